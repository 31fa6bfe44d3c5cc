"""A benchmark's pools by candidate type in MDCR's published files, which the loader `mdcr` reads again.

Written are `mdcr_test.json`, {field: {query's paper: {candidate type: [papers]}}}, where what the query cites
is of the type `true`, and `mdcr_test_data.jsonl`, the texts of all queries and candidates, a paper a line.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import BenchmarkError, InputError
from pinakes.faults import told_as
from pinakes.queries.definition import Benchmark
from pinakes.queries.relations import requested_candidates, requested_queries
from pinakes.schema import constructed_candidates, papers
from pinakes.workload.benchmark import open_benchmark
from pinakes.writing.files import write_lines

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
Pools = dict[str, dict[str, dict[str, list[str]]]]
"""field -> query's paper -> candidate type -> papers"""


@dataclass(frozen=True, slots=True)
class ExportedPools:
    """How much was written."""

    queries: int
    papers: int


def export_pools(database: Database, benchmark_name: str, folder: Path) -> ExportedPools:
    """Write a benchmark's pools and texts into a folder; each file takes its name when it is whole.

    The benchmark has a pool for each query, candidate types, and papers of fields as queries; a folder that
    is not there is made.

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
    with told_as(InputError, f"{folder} cannot be made"):
        folder.mkdir(parents=True, exist_ok=True)
    pools = _read_pools(database, benchmark)
    if not pools:
        raise BenchmarkError(
            f"{benchmark.name} has no query with candidates and a field; load or make it first."
        )
    write_lines(folder / POOLS_FILE, _document_lines(pools))
    return ExportedPools(
        queries=sum(map(len, pools.values())),
        papers=write_lines(folder / TEXTS_FILE, _text_lines(database, benchmark)),
    )


def _read_pools(database: Database, benchmark: Benchmark) -> Pools:
    """The pools; what is cited is of the type `true`, the last: the last type that names a paper counts."""
    pools: Pools = {}
    queries: dict[tuple[str, str], str] = {}
    with database.read() as session:
        for field, query, query_id, source, paper in session.stream_rows(_select_candidates(benchmark)):
            if queries.setdefault((field, query), query_id) != query_id:
                raise BenchmarkError(
                    f"two queries of {field} are the paper {query}, the second {query_id}; MDCR's files hold "
                    "one."
                )
            pools.setdefault(field, {}).setdefault(query, {}).setdefault(source, []).append(paper)
    for types in (types for of_field in pools.values() for types in of_field.values()):
        types["true"] = types.pop("cited", [])
    return pools


def _select_candidates(benchmark: Benchmark) -> sa.Select[Any]:
    """Every candidate of the requested queries, by the source's ids, in the order of the file."""
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


def _document_lines(pools: Pools) -> Iterator[str]:
    """The JSON document, a query a line.

    >>> pools = {"Art": {"1": {"true": ["2"]}, "4": {"true": []}}, "Law": {"1": {"graph": ["3"], "true": []}}}
    >>> print(*_document_lines(pools), sep="\\n")
    {
    "Art": {
    "1": {"true":["2"]},
    "4": {"true":[]}
    },
    "Law": {
    "1": {"graph":["3"],"true":[]}
    }
    }
    """
    fields = []
    for field, queries in pools.items():
        lines = ",\n".join(f"{_quote(query)}: {_quote(types)}" for query, types in queries.items())
        fields.append(f"{_quote(field)}: {{\n{lines}\n}}")
    yield from ("{", ",\n".join(fields), "}")


def _quote(content: object) -> str:
    return orjson.dumps(content).decode()


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
        for paper, title, abstract in session.stream_rows(query):
            yield _quote({"paper_id": paper, "title": title, "abstract": abstract})
