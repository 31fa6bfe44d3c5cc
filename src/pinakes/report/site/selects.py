"""What the pages of queries show, as one SQLAlchemy select over a benchmark's views, in the order of queries.

Rows of four kinds come one query after another: the query with its texts, the papers that its page shows
with their grades and ranks, the systems' values, the sentences of its abstract. A benchmark is read once, in
constant memory.
"""

from collections.abc import Sequence
from typing import Any, Final

import sqlalchemy as sa

from pinakes.queries.definition import Benchmark
from pinakes.queries.relations import relation, requested_queries
from pinakes.queries.sentence_relations import QUERY_SENTENCES
from pinakes.report.errors.selects import select_abstract_sentences
from pinakes.report.site.names import SCHEMES
from pinakes.schema import hits, paper_identifiers, papers, scores

QUERY: Final = 0
PAPER: Final = 1
VALUE: Final = 2
SENTENCE: Final = 3
TITLE_LENGTH: Final = 300
TEXT_LENGTH: Final = 6_000
"""characters of a text that a page has room for"""
MOST_SENTENCES: Final = 60
"""sentences of an abstract that a page has room for"""

_TEXT: Final = sa.Text(collation="C")
COLUMNS: Final[dict[str, Any]] = {
    "query_id": _TEXT,
    "kind": sa.Integer,
    "paper_id": sa.BigInteger,
    "grade": sa.Integer,
    "judged": sa.BigInteger,
    "relevant": sa.BigInteger,
    "ranks": sa.Text,
    "source_id": sa.Text,
    "title": sa.Text,
    "abstract": sa.Text,
    "text": sa.Text,
    "identifiers": sa.Text,
    "run_id": sa.BigInteger,
    "measure": sa.Text,
    "value": sa.Double,
    "position": sa.Integer,
    "is_requested": sa.Integer,
}
"""the columns of every row: those that its kind has not are null"""


def select_query_ids(benchmark: Benchmark) -> sa.Select[Any]:
    """query_id and the grouping columns of every query that is asked, as text."""
    queries = requested_queries(benchmark)
    groups = [sa.cast(queries.c[name], sa.Text).label(name) for name in benchmark.group_by]
    return sa.select(queries.c.query_id, *groups)


def select_pages(
    benchmark: Benchmark,
    run_ids: Sequence[int],
    measures: Sequence[str],
    *,
    relevant_from: int,
    top: int,
    most_judged: int,
) -> sa.Select[Any]:
    """Rows of the columns `COLUMNS`, by query_id and kind.

    A query's papers are the `top` highest of each run and the `most_judged` of the highest grade; `ranks` are
    theirs in each run that ranks them, as `1:7,2:130` for rank 7 in run 1.
    """
    judged = _number_judged(benchmark, relevant_from)
    is_high = (hits.c.run_id.in_(run_ids), hits.c.rank <= top)
    highest = sa.select(hits.c.query_id, hits.c.paper_id).where(*is_high)
    chosen = sa.select(judged.c.query_id, judged.c.paper_id).where(judged.c.place <= most_judged)
    shown = sa.union(highest, chosen).cte("shown")
    parts = [
        _select_queries(benchmark, judged),
        _select_papers(shown, judged, run_ids),
        _select_values(run_ids, measures),
        *([_select_sentences(benchmark)] if asks_with_sentences(benchmark) else []),
    ]
    rows = sa.union_all(*parts).subquery("rows")
    return sa.select(*(rows.c[name] for name in COLUMNS)).order_by(
        sa.collate(rows.c.query_id, "C"), rows.c.kind
    )


def _fill(**given: Any) -> list[sa.ColumnElement[Any]]:
    """All columns of a row in their order; what is not given is null."""
    return [
        sa.cast(given.get(name, sa.null()), type_).label(name)
        if name != "query_id"
        else given[name].label(name)
        for name, type_ in COLUMNS.items()
    ]


def _number_judged(benchmark: Benchmark, relevant_from: int) -> sa.CTE:
    """query_id, paper_id, grade, place by grade, and how many papers of the query are judged and relevant."""
    view = relation(benchmark, "judgments").alias("judgments")
    is_relevant = sa.case((view.c.grade >= relevant_from, 1), else_=0)
    query = view.c.query_id
    order = (view.c.grade.desc(), view.c.paper_id)
    return sa.select(
        view.c.query_id,
        view.c.paper_id,
        view.c.grade,
        sa.func.row_number().over(partition_by=query, order_by=order).label("place"),
        sa.func.count().over(partition_by=query).label("judged"),
        sa.func.sum(is_relevant).over(partition_by=query).label("relevant"),
    ).cte("judged")


def _select_queries(benchmark: Benchmark, judged: sa.CTE) -> sa.Select[Any]:
    queries = requested_queries(benchmark)
    counted = sa.select(judged.c.query_id, judged.c.judged, judged.c.relevant).where(judged.c.place == 1)
    counts = counted.subquery("counts")
    links = _select_identifiers(sa.select(requested_queries(benchmark).c.paper_id)).subquery("query_links")
    source = (
        queries.outerjoin(papers, queries.c.paper_id == papers.c.paper_id)
        .outerjoin(counts, counts.c.query_id == queries.c.query_id)
        .outerjoin(links, links.c.paper_id == queries.c.paper_id)
    )
    columns = _fill(
        query_id=queries.c.query_id,
        kind=sa.literal(QUERY),
        paper_id=queries.c.paper_id,
        judged=counts.c.judged,
        relevant=counts.c.relevant,
        source_id=papers.c.source_id,
        title=sa.func.substr(papers.c.title, 1, TITLE_LENGTH),
        abstract=sa.func.substr(papers.c.abstract, 1, TEXT_LENGTH),
        text=sa.func.substr(queries.c.text, 1, TEXT_LENGTH),
        identifiers=links.c.identifiers,
    )
    return sa.select(*columns).select_from(source)


def _select_papers(shown: sa.CTE, judged: sa.CTE, run_ids: Sequence[int]) -> sa.Select[Any]:
    def is_same(one: sa.FromClause) -> sa.ColumnElement[bool]:
        return sa.and_(one.c.query_id == shown.c.query_id, one.c.paper_id == shown.c.paper_id)

    rank = sa.cast(hits.c.run_id, sa.Text) + ":" + sa.cast(hits.c.rank, sa.Text)
    ranked = (
        sa.select(
            shown.c.query_id,
            shown.c.paper_id,
            sa.func.string_agg(rank, sa.literal_column("','", sa.Text)).label("ranks"),
        )
        .select_from(shown.join(hits, is_same(hits)))
        .where(hits.c.run_id.in_(run_ids))
        .group_by(shown.c.query_id, shown.c.paper_id)
        .subquery("ranked")
    )
    links = _select_identifiers(sa.select(shown.c.paper_id)).subquery("paper_links")
    source = (
        shown.join(papers, papers.c.paper_id == shown.c.paper_id)
        .outerjoin(judged, is_same(judged))
        .outerjoin(ranked, is_same(ranked))
        .outerjoin(links, links.c.paper_id == shown.c.paper_id)
    )
    columns = _fill(
        query_id=shown.c.query_id,
        kind=sa.literal(PAPER),
        paper_id=shown.c.paper_id,
        grade=judged.c.grade,
        ranks=ranked.c.ranks,
        source_id=papers.c.source_id,
        title=sa.func.substr(papers.c.title, 1, TITLE_LENGTH),
        identifiers=links.c.identifiers,
    )
    return sa.select(*columns).select_from(source)


def _select_values(run_ids: Sequence[int], measures: Sequence[str]) -> sa.Select[Any]:
    columns = _fill(
        query_id=scores.c.query_id,
        kind=sa.literal(VALUE),
        run_id=scores.c.run_id,
        measure=scores.c.measure,
        value=scores.c.value,
    )
    chosen = (scores.c.run_id.in_(run_ids), scores.c.measure.in_(measures), scores.c.subset == "all")
    return sa.select(*columns).where(*chosen, scores.c.query_id.is_not(None))


def asks_with_sentences(benchmark: Benchmark) -> bool:
    """Whether queries of a benchmark ask with some sentences of an abstract, and not with all."""
    return "facet" in benchmark.group_by or QUERY_SENTENCES in benchmark.own_views


def _select_sentences(benchmark: Benchmark) -> sa.Select[Any]:
    found = select_abstract_sentences(benchmark).order_by(None).subquery("abstract_sentences")
    columns = _fill(
        query_id=found.c.query_id,
        kind=sa.literal(SENTENCE),
        text=sa.func.substr(found.c.text, 1, TEXT_LENGTH),
        position=found.c.position,
        is_requested=found.c.is_requested,
    )
    return sa.select(*columns).where(found.c.position <= MOST_SENTENCES)


def _select_identifiers(paper_ids: sa.Select[Any]) -> sa.Select[Any]:
    """paper_id and identifiers, lines of a scheme and an id in no order, of the papers that have any."""
    table = paper_identifiers
    line = table.c.scheme + " " + table.c.identifier
    joined = sa.func.string_agg(line, sa.literal_column("'\n'", sa.Text)).label("identifiers")
    chosen = (table.c.scheme.in_(SCHEMES), table.c.paper_id.in_(paper_ids))
    return sa.select(table.c.paper_id, joined).where(*chosen).group_by(table.c.paper_id)
