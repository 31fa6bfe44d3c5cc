"""A benchmark's pools by candidate type in MDCR's published files, which the loader `mdcr` reads again.

Written are `mdcr_test.json`, {field: {query's paper: {candidate type: [papers]}}}, where what the query cites
is of the type `true`, and `mdcr_test_data.jsonl`, the texts of all queries and candidates, a paper a line.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import orjson
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import BenchmarkError, InputError
from pinakes.queries.definition import Benchmark
from pinakes.queries.relations import requested_candidates, requested_queries
from pinakes.run.files import write_lines
from pinakes.schema import constructed_candidates, papers
from pinakes.workload.benchmark import open_benchmark

POOLS_FILE: Final = "mdcr_test.json"
TEXTS_FILE: Final = "mdcr_test_data.jsonl"
FIELDS: Final = (
    "Art",
    "Biology",
    "Business",
    "Chemistry",
    "Computer Science",
    "Economics",
    "Engineering",
    "Environmental Science",
    "Geography",
    "Geology",
    "History",
    "Materials Science",
    "Mathematics",
    "Medicine",
    "Philosophy",
    "Physics",
    "Political Science",
    "Psychology",
    "Sociology",
)
"""the fields of MAG, in the order of MDCR's files; another field comes behind them, by its name"""
_CITED: Final = "cited"
_CITED_THERE: Final = "true"


@dataclass(frozen=True, slots=True)
class ExportedPools:
    """How much was written."""

    queries: int
    papers: int


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A candidate and its query, by the source's ids of their papers."""

    field: str
    query: str
    query_id: str
    source: str
    paper: str


def export_pools(database: Database, benchmark_name: str, folder: Path) -> ExportedPools:
    """Write a benchmark's pools and texts into a folder; each file takes its name when it is whole.

    Args:
        database: where the benchmark is.
        benchmark_name: one with a pool for each query, candidate types, and papers of fields as queries.
        folder: made where it is not there.

    Raises:
        BenchmarkError: the benchmark is of another form, has no candidates, or two queries of one field that
            are the same paper.
        InputError: a file cannot be written.
    """
    benchmark = open_benchmark(database, benchmark_name)
    if benchmark.pool != "per_query" or not benchmark.candidate_types or "field" not in benchmark.group_by:
        raise BenchmarkError(
            f"{benchmark.name} has no pools that MDCR's files could hold; expected a pool for each query, "
            "candidate types and fields, as mdcr and mdcr_constructed have them."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror}.") from error
    with database.read() as session:
        queries = int(session.scalar(_count_queries(benchmark)))
    if not queries:
        raise BenchmarkError(
            f"{benchmark.name} has no query with candidates and a field; load or make it first."
        )
    write_lines(folder / POOLS_FILE, _pool_lines(_read_candidates(database, benchmark)))
    return ExportedPools(queries, write_lines(folder / TEXTS_FILE, _text_lines(database, benchmark)))


def _select_candidates(benchmark: Benchmark) -> sa.Select[Any]:
    """Every candidate of the queries that are asked, by the source's ids, in the order of the file."""
    queries = requested_queries(benchmark)
    candidates = requested_candidates(benchmark)
    asking, candidate = papers.alias("asking"), papers.alias("candidate")
    placed = constructed_candidates
    joined = (
        queries.join(candidates, queries.c.query_id == candidates.c.query_id)
        .join(asking, queries.c.paper_id == asking.c.paper_id)
        .join(candidate, candidates.c.paper_id == candidate.c.paper_id)
        .outerjoin(
            placed,
            (placed.c.benchmark == benchmark.name)
            & (placed.c.query_id == candidates.c.query_id)
            & (placed.c.paper_id == candidates.c.paper_id),
        )
    )
    place = sa.case({field: place for place, field in enumerate(FIELDS)}, value=queries.c.field, else_=99)
    position = sa.func.coalesce(placed.c.position, 0)
    names = (
        queries.c.field,
        asking.c.source_id.label("query"),
        queries.c.query_id,
        candidates.c.source,
        candidate.c.source_id.label("paper"),
    )
    order = (place, queries.c.field, asking.c.source_id, queries.c.query_id, candidates.c.source, position)
    chosen = sa.select(*names).select_from(joined).where(queries.c.field.is_not(None))
    return chosen.order_by(*order, candidate.c.source_id)


def _count_queries(benchmark: Benchmark) -> sa.Select[Any]:
    rows = _select_candidates(benchmark).order_by(None).subquery("rows")
    return sa.select(sa.func.count(sa.distinct(rows.c.query_id)))


def _read_candidates(database: Database, benchmark: Benchmark) -> Iterator[_Candidate]:
    with database.read() as session:
        for part in session.stream(_select_candidates(benchmark)):
            for row in zip(*(column.to_pylist() for column in part.columns), strict=True):
                yield _Candidate(*row)


def _pool_lines(candidates: Iterator[_Candidate]) -> Iterator[str]:
    """The JSON document, a query a line.

    >>> found = [_Candidate("Art", "1", "1_Art", "cited", "2"), _Candidate("Law", "1", "1_Law", "graph", "3")]
    >>> print(*_pool_lines(iter(found)), sep="\\n")
    {
    "Art": {
    "1": {"true":["2"]}
    },
    "Law": {
    "1": {"graph":["3"],"true":[]}
    }
    }
    """
    yield "{"
    yield from _separate(_field_text(field, rows) for field, rows in groupby(candidates, attrgetter("field")))
    yield "}"


def _field_text(field: str, rows: Iterator[_Candidate]) -> str:
    pools: dict[str, str] = {}
    for (query, query_id), members in groupby(rows, attrgetter("query", "query_id")):
        if query in pools:
            raise BenchmarkError(
                f"two queries of {field} are the paper {query}, the second {query_id}; MDCR's files hold one."
            )
        pools[query] = _quote(_group_types(members))
    return "\n".join(
        (f"{_quote(field)}: {{", *_separate(f"{_quote(key)}: {pool}" for key, pool in pools.items()), "}")
    )


def _group_types(members: Iterator[_Candidate]) -> dict[str, list[str]]:
    """Candidate type -> papers; what is cited comes last, since the last type that names a paper counts."""
    types = {source: [row.paper for row in rows] for source, rows in groupby(members, attrgetter("source"))}
    cited = types.pop(_CITED, [])
    return {**types, _CITED_THERE: cited}


def _quote(content: object) -> str:
    return orjson.dumps(content).decode()


def _separate(entries: Iterator[str]) -> Iterator[str]:
    """The entries, each but the last with a comma behind it.

    >>> list(_separate(iter("ab")))
    ['a,', 'b']
    """
    last: str | None = None
    for entry in entries:
        if last is not None:
            yield f"{last},"
        last = entry
    if last is not None:
        yield last


def _text_lines(database: Database, benchmark: Benchmark) -> Iterator[str]:
    """The texts of all queries and candidates, by the source's id."""
    queries, candidates = requested_queries(benchmark), requested_candidates(benchmark)
    wanted = sa.union(
        sa.select(queries.c.paper_id).where(queries.c.field.is_not(None)), sa.select(candidates.c.paper_id)
    )
    query = (
        sa.select(papers.c.source_id, papers.c.title, papers.c.abstract)
        .where(papers.c.paper_id.in_(wanted))
        .order_by(papers.c.source_id)
    )
    with database.read() as session:
        for part in session.stream(query):
            for paper, title, abstract in zip(*(c.to_pylist() for c in part.columns), strict=True):
                yield _quote({"paper_id": paper, "title": title, "abstract": abstract})
