"""Papers, queries and judgments of a corpus or of a benchmark, as collections of retrieval publish them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import BenchmarkError, InputError, UnknownNameError
from pinakes.load.corpus import find_corpus
from pinakes.queries.definition import Benchmark, require_task
from pinakes.queries.relations import (
    read_template,
    requested_candidates,
    select_judgments,
    select_queries,
)
from pinakes.queries.tasks import RANKING
from pinakes.schema import benchmark_queries, check_schema, judgments, papers
from pinakes.workload.benchmark import open_benchmark

BENCHMARK_SPLIT: Final = "test"


@dataclass(frozen=True, slots=True)
class Written:
    """How much of a collection was written.

    Attributes:
        queries_left_out: queries without a text, which these formats cannot hold.
        judgments_left_out: the judgments of those queries.
    """

    folder: str
    papers: int
    queries: int
    judgments: int
    splits: str
    queries_left_out: int
    judgments_left_out: int


@dataclass(frozen=True, slots=True)
class Collection:
    """What is written of a corpus or a benchmark.

    Attributes:
        papers: source_id, title, abstract and year, by source_id.
        queries: query_id and text, by query_id; a text may be null or empty.
        judgments: split -> query_id, source_id and grade, by query and source id.
    """

    papers: sa.Select[Any]
    queries: sa.Select[Any]
    judgments: dict[str, sa.Select[Any]]


def find_collection(
    database: Database, benchmark: str | None, corpus: str | None, assessor: str | None = None
) -> Collection:
    """What is written of the benchmark, or else of the corpus.

    Of a benchmark: its candidates, its queries with the text that it asks with, and its judgments, as the
    split `test`. Of a corpus: all its papers, its queries, and its judgments by split; a query that is a
    paper asks with its title and abstract.

    Raises:
        InputError: neither or both are named, or the corpus has judgments of several assessors.
        UnknownNameError: there is no such benchmark, corpus or assessor.
        BenchmarkError: the benchmark asks for no rankings.
    """
    if (benchmark is None) == (corpus is None):
        raise InputError("expected either a benchmark or a corpus, by --benchmark NAME or --corpus NAME.")
    if benchmark is not None:
        if assessor is not None:
            raise InputError("--assessor is of a corpus; a benchmark says itself whose judgments count.")
        return _find_benchmark(open_benchmark(database, benchmark))
    check_schema(database)
    with database.read() as session:
        return _find_corpus(session, str(corpus), assessor)


def _select_papers() -> sa.Select[Any]:
    columns = (papers.c.source_id, papers.c.title, papers.c.abstract, papers.c.year)
    return sa.select(*columns).order_by(papers.c.source_id)


def _find_benchmark(benchmark: Benchmark) -> Collection:
    require_task(benchmark, RANKING)
    if benchmark.sampling is not None and not benchmark.corpus:
        raise BenchmarkError(f"{benchmark.name} is not sampled yet; do so with `pinakes sample`.")
    candidates = sa.select(requested_candidates(benchmark).c.paper_id)
    asked = select_queries(benchmark).subquery("asked")
    queries = sa.select(asked.c.query_id, asked.c.text).order_by(asked.c.query_id)
    return Collection(
        _select_papers().where(papers.c.paper_id.in_(candidates)),
        queries,
        {BENCHMARK_SPLIT: select_judgments(benchmark)},
    )


def _find_corpus(session: Session, name: str, assessor: str | None) -> Collection:
    corpus_id = find_corpus(session, name)
    owned = judgments.c.corpus_id == corpus_id
    assessors = _list_values(session, judgments.c.assessor, owned)
    if assessor is not None and assessor not in assessors:
        raise UnknownNameError("assessor", assessor, assessors)
    if assessor is None and len(assessors) > 1:
        raise InputError(
            f"{name} has judgments of several assessors: {', '.join(assessors)}; name one with --assessor."
        )
    if assessor is not None:
        owned &= judgments.c.assessor == assessor
    judged = (
        sa.select(judgments.c.query_id, papers.c.source_id, judgments.c.grade)
        .join(papers, judgments.c.paper_id == papers.c.paper_id)
        .where(owned)
        .order_by(judgments.c.query_id, papers.c.source_id)
    )
    own_text = sa.func.coalesce(benchmark_queries.c.text, read_template("papers", "title_abstract").element)
    queries = (
        sa.select(benchmark_queries.c.query_id, own_text.label("text"))
        .outerjoin(papers, benchmark_queries.c.paper_id == papers.c.paper_id)
        .where(benchmark_queries.c.corpus_id == corpus_id)
        .order_by(benchmark_queries.c.query_id)
    )
    return Collection(
        _select_papers().where(papers.c.corpus_id == corpus_id),
        queries,
        {
            split: judged.where(judgments.c.split == split)
            for split in _list_values(session, judgments.c.split, owned)
        },
    )


def _list_values(session: Session, column: sa.Column[Any], where: sa.ColumnElement[bool]) -> list[str]:
    query = sa.select(column).where(where).distinct().order_by(column)
    return [row[column.name] for row in session.rows(query)]


def list_papers(session: Session, collection: Collection) -> Iterator[pa.Table]:
    """The papers in parts: source_id, title, abstract, year; `InputError` where two have one source id."""
    last = None
    for part in session.stream(collection.papers):
        ids = part["source_id"].to_pylist()
        twice = next((one for one, other in zip([last, *ids], ids, strict=False) if one == other), None)
        if twice is not None:
            raise InputError(
                f"two papers have the id {twice!r}, of different corpora; expected ids of one corpus."
            )
        last = ids[-1] if ids else last
        yield part


def read_queries(session: Session, collection: Collection) -> tuple[pa.Table, set[str]]:
    """The queries that have a text, and the ids of those that have none."""
    rows = session.fetch_arrow(collection.queries)
    has_text = pa.array([bool(text and text.strip()) for text in rows["text"].to_pylist()], pa.bool_())
    left_out = set(rows["query_id"].to_pylist()) - set(rows.filter(has_text)["query_id"].to_pylist())
    return rows.filter(has_text), left_out


def read_judgments(
    session: Session, select: sa.Select[Any], left_out: set[str], counts: dict[str, int]
) -> Iterator[tuple[str, str, int]]:
    """The judgments of the queries that are written; `counts` says how many, and how many are left out."""
    for query_id, source_id, grade in session.stream_rows(select):
        if query_id in left_out:
            counts["judgments_left_out"] += 1
        else:
            counts["judgments"] += 1
            yield query_id, source_id, grade
