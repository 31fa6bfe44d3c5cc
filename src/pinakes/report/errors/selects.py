"""The candidates that runs have too high or too low, as SQLAlchemy selects over a benchmark's views.

They are no named blocks, since the schema that the views are in is the benchmark's name.
"""

from collections.abc import Sequence
from typing import Any, Final

import sqlalchemy as sa

from pinakes.queries.definition import Benchmark
from pinakes.queries.relations import relation, requested_queries
from pinakes.queries.sentence_relations import ABSTRACT, select_query_sentences
from pinakes.schema import distinct_sentences as sentences
from pinakes.schema import hits, papers, runs

FALSE_POSITIVE: Final = "false_positive"
LOW: Final = "low"


def select_errors(
    benchmark: Benchmark, run_ids: Sequence[int], query_ids: Sequence[str], relevant_from: int, top: int
) -> sa.Select[Any]:
    """Each chosen candidate with its text, a row for each of the runs that ranks it, or one without a rank.

    query_id, paper_id, kind, source_id, title, abstract, grade, run_id, rank, score. Chosen are for each run
    and query the `top` highest that are not relevant, and the `top` lowest that are: of these those without a
    rank first, the higher grade first.
    """
    judgments = relation(benchmark, "judgments").alias("judgments")
    chosen = sa.union(
        _choose(_false_positives(judgments, run_ids, query_ids, relevant_from), FALSE_POSITIVE, top),
        _choose(_low(judgments, run_ids, query_ids, relevant_from), LOW, top),
    ).subquery("chosen")
    key = [chosen.c.query_id, chosen.c.paper_id]
    is_ranked = sa.and_(_same(hits, chosen), hits.c.run_id.in_(run_ids))
    return (
        sa.select(*key, chosen.c.kind, papers.c.source_id, papers.c.title, papers.c.abstract)
        .add_columns(judgments.c.grade, hits.c.run_id, hits.c.rank, hits.c.score)
        .select_from(
            chosen.join(papers, chosen.c.paper_id == papers.c.paper_id)
            .outerjoin(judgments, _same(judgments, chosen))
            .outerjoin(hits, is_ranked)
        )
        .order_by(*key, chosen.c.kind, hits.c.run_id)
    )


def _choose(numbered: sa.FromClause, kind: str, top: int) -> sa.Select[Any]:
    """Each candidate once that is among the first of some run."""
    columns = (numbered.c.query_id, numbered.c.paper_id, sa.literal(kind, sa.Text).label("kind"))
    return sa.select(*columns).where(numbered.c.place <= top)


def _same(one: sa.FromClause, other: sa.FromClause) -> sa.ColumnElement[bool]:
    return sa.and_(one.c.query_id == other.c.query_id, one.c.paper_id == other.c.paper_id)


def _false_positives(
    judgments: sa.FromClause, run_ids: Sequence[int], query_ids: Sequence[str], relevant_from: int
) -> sa.FromClause:
    """What the runs rank and is not relevant, numbered from the highest; what nobody judged is not."""
    place = sa.func.row_number().over(partition_by=(hits.c.run_id, hits.c.query_id), order_by=hits.c.rank)
    is_not = sa.or_(judgments.c.grade.is_(None), judgments.c.grade < relevant_from)
    return (
        sa.select(hits.c.query_id, hits.c.paper_id, place.label("place"))
        .select_from(hits.outerjoin(judgments, _same(judgments, hits)))
        .where(hits.c.run_id.in_(run_ids), hits.c.query_id.in_(query_ids), is_not)
        .subquery("false_positives")
    )


def _low(
    judgments: sa.FromClause, run_ids: Sequence[int], query_ids: Sequence[str], relevant_from: int
) -> sa.FromClause:
    """What is relevant, for each run, numbered from the lowest; what it does not rank is the lowest."""
    order = (hits.c.rank.desc().nulls_first(), judgments.c.grade.desc(), papers.c.source_id)
    place = sa.func.row_number().over(partition_by=(runs.c.run_id, judgments.c.query_id), order_by=order)
    is_hit = sa.and_(_same(hits, judgments), hits.c.run_id == runs.c.run_id)
    return (
        sa.select(judgments.c.query_id, judgments.c.paper_id, place.label("place"))
        .select_from(
            judgments.join(papers, judgments.c.paper_id == papers.c.paper_id)
            .join(runs, runs.c.run_id.in_(run_ids))
            .outerjoin(hits, is_hit)
        )
        .where(judgments.c.query_id.in_(query_ids), judgments.c.grade >= relevant_from)
        .subquery("low")
    )


def select_relevant_counts(
    benchmark: Benchmark, query_ids: Sequence[str], relevant_from: int
) -> sa.Select[Any]:
    """query_id and relevant, how many papers are judged relevant for it."""
    judgments = relation(benchmark, "judgments")
    chosen = (judgments.c.query_id.in_(query_ids), judgments.c.grade >= relevant_from)
    counted = sa.select(judgments.c.query_id, sa.func.count().label("relevant")).where(*chosen)
    return counted.group_by(judgments.c.query_id)


def select_requested(benchmark: Benchmark, query_ids: Sequence[str]) -> sa.Select[Any]:
    """query_id, paper_id, text, title and abstract of the query paper, and the grouping columns."""
    queries = requested_queries(benchmark)
    groups = [queries.c[name] for name in benchmark.group_by]
    columns = (queries.c.query_id, queries.c.paper_id, queries.c.text, papers.c.title, papers.c.abstract)
    source = queries.outerjoin(papers, queries.c.paper_id == papers.c.paper_id)
    return sa.select(*columns, *groups).select_from(source).where(queries.c.query_id.in_(query_ids))


def select_abstract_sentences(benchmark: Benchmark, query_ids: Sequence[str] | None = None) -> sa.Select[Any]:
    """query_id, position, text and is_requested (1 or 0) of each sentence of the query papers' abstracts.

    Of all queries where none are named.
    """
    queries = requested_queries(benchmark)
    requested = select_query_sentences(benchmark).subquery("requested")
    is_same = sa.and_(
        requested.c.query_id == queries.c.query_id, requested.c.position == sentences.c.position
    )
    in_abstract = sa.and_(queries.c.paper_id == sentences.c.paper_id, sentences.c.section_number == ABSTRACT)
    is_requested = sa.case((requested.c.query_id.is_not(None), 1), else_=0).label("is_requested")
    chosen = sa.true() if query_ids is None else queries.c.query_id.in_(query_ids)
    return (
        sa.select(queries.c.query_id, sentences.c.position, sentences.c.text, is_requested)
        .select_from(queries.join(sentences, in_abstract).outerjoin(requested, is_same))
        .where(chosen)
        .order_by(queries.c.query_id, sentences.c.position)
    )


def select_sources(benchmark: Benchmark, query_ids: Sequence[str]) -> sa.Select[Any]:
    """query_id, paper_id and source of the queries' candidates, of a view that says the source."""
    names = ("query_id", "paper_id", "source")
    view = sa.table("candidates", *(sa.column(name) for name in names), schema=benchmark.name)
    return sa.select(*view.c).where(view.c.query_id.in_(query_ids)).order_by(*view.c)
