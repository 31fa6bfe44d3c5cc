"""What tests ask for and no training draws: papers, also where they have another id, and queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import sqlalchemy as sa

from pinakes.errors import BenchmarkError
from pinakes.queries.definition import Benchmark
from pinakes.queries.relations import read_template
from pinakes.queries.tasks import resolve_task
from pinakes.schema import corpora, duplicate_papers, judgments, papers
from pinakes.train.blocks import Blocks
from pinakes.train.data import TRAIN

PLAIN: Final = "title_abstract"
"""the template by which two papers are told to be one"""
_PAPERS: Final[dict[str, Any]] = {"benchmark": sa.Text, "paper_id": sa.BigInteger, "text_digest": sa.Uuid}
_QUERIES: Final[dict[str, Any]] = {"benchmark": sa.Text, "query_id": sa.Text, "text_digest": sa.Uuid}


@dataclass(frozen=True, slots=True)
class Held:
    """What the tests of some benchmarks ask for.

    Attributes:
        papers: paper_id -> a benchmark that asks for it: a test example, or a query that is a paper.
        queries: (benchmark, query_id) of the queries of rankings.
    """

    papers: Mapping[int, str]
    queries: frozenset[tuple[str, str]]


def find_held(blocks: Blocks, benchmarks: Sequence[Benchmark]) -> Held:
    """Make the tables `drawing_held` and `drawing_held_queries`, and read them.

    Raises:
        BenchmarkError: a benchmark's views say of no paper and no query that a test asks for it.
    """
    named, asked = [_select_nothing(_PAPERS)], [_select_nothing(_QUERIES)]
    for benchmark in benchmarks:
        named += [_select_papers(benchmark, ids) for ids in _list_papers(benchmark)]
        asked += _list_queries(benchmark)
    held = blocks.make_as("held", _PAPERS, _union(named))
    queries = blocks.make_as("held_queries", _QUERIES, _union(asked))
    rows = blocks.session.fetch_arrow(sa.select(held.c.paper_id, held.c.benchmark).order_by(held.c.benchmark))
    listed = blocks.session.fetch_arrow(sa.select(queries.c.benchmark, queries.c.query_id))
    return Held(
        dict(zip(*(column.to_pylist() for column in rows.columns), strict=True)),
        frozenset(zip(*(column.to_pylist() for column in listed.columns), strict=True)),
    )


def require_apart(task: str, benchmark: str, instances: pa.Table, held: Held) -> None:
    """Raise `BenchmarkError` where an instance has a paper or a query that a test asks for.

    `instances` are those of `DrawnTask`, `benchmark` is the one that its queries are of, if any.
    """
    for column in ("query_paper_id", "positive_paper_id", "negative_paper_id"):
        for paper_id in instances[column].unique().to_pylist():
            if paper_id in held.papers:
                raise BenchmarkError(
                    f"the draw of {task} has the paper {paper_id}, which the test of {held.papers[paper_id]} "
                    "asks for; expected none of a test. Nothing was kept: report this, with the seed."
                )
    for query_id in instances["query_id"].unique().to_pylist():
        if (benchmark, query_id) in held.queries:
            raise BenchmarkError(
                f"the draw of {task} has the query {query_id}, which its test asks; expected none of a test. "
                "Nothing was kept: report this, with the seed."
            )


def _select_nothing(columns: Mapping[str, Any]) -> sa.Select[Any]:
    nulls: list[Any] = [sa.cast(sa.null(), type_).label(name) for name, type_ in columns.items()]
    return sa.select(*nulls).where(sa.false())


def _union(selects: Sequence[sa.Select[Any]]) -> sa.Select[Any]:
    joined = sa.union(*selects).subquery("held_rows")
    return sa.select(*joined.c)


def _view(benchmark: Benchmark, view: str, *columns: str) -> sa.TableClause:
    return sa.table(view, *(sa.column(name) for name in columns), schema=benchmark.name)


def _list_papers(benchmark: Benchmark) -> list[sa.Select[Any]]:
    """Selects of the paper_ids that a benchmark's test asks for."""
    views = resolve_task(benchmark.task).views
    if "examples" in views:
        view = _view(benchmark, "examples", "paper_id", "split")
        return [sa.select(view.c.paper_id).where(view.c.split == "test")]
    if "queries" in views:
        view = _view(benchmark, "queries", "query_id", "paper_id")
        return [sa.select(view.c.paper_id).where(view.c.paper_id.is_not(None), _is_of_test(benchmark, view))]
    raise BenchmarkError(
        f"{benchmark.name} has the task {benchmark.task}, whose views name no paper that its test asks for; "
        "expected a benchmark with queries or examples to hold out."
    )


def _select_papers(benchmark: Benchmark, ids: sa.Select[Any]) -> sa.Select[Any]:
    """Those papers, and the ones that they were merged into, with the digest of what they say."""
    merged = sa.select(duplicate_papers.c.kept_paper_id).where(duplicate_papers.c.paper_id.in_(ids))
    text = read_template("papers", PLAIN).element
    digest = sa.case((text != "", sa.cast(sa.func.md5(text), sa.Uuid)))
    columns = (sa.literal(benchmark.name, sa.Text), papers.c.paper_id, digest.label("text_digest"))
    return sa.select(*columns).where(sa.or_(papers.c.paper_id.in_(ids), papers.c.paper_id.in_(merged)))


def _list_queries(benchmark: Benchmark) -> list[sa.Select[Any]]:
    if benchmark.task != "ranking":
        return []
    view = _view(benchmark, "queries", "query_id", "text")
    digest = sa.cast(sa.func.md5(sa.func.trim(view.c.text)), sa.Uuid)
    columns = (sa.literal(benchmark.name, sa.Text), view.c.query_id, digest)
    return [sa.select(*columns).where(_is_of_test(benchmark, view))]


def _is_of_test(benchmark: Benchmark, view: sa.TableClause) -> sa.ColumnElement[bool]:
    """Whether a query is judged for more than training: a view may ask that where there is no test."""
    of_query = (judgments.c.query_id == view.c.query_id, corpora.c.name == benchmark.corpus)
    judged = sa.select(judgments.c.split).join(corpora, judgments.c.corpus_id == corpora.c.corpus_id)
    judged = judged.where(*of_query).correlate(view)
    return sa.or_(
        sa.exists(judged.where(judgments.c.split != TRAIN)),
        ~sa.exists(judged.where(judgments.c.split == TRAIN)),
    )
