"""A benchmark's views and text templates as SQLAlchemy selects; both are our SQL or the folder's.

What is selected is what is asked: without the folds that are for tuning alone (with `Benchmark.tuning`, those
alone), and of one pool where the benchmark is cut to one (`Benchmark.part`). A template is one SQL expression
over `papers` or `queries`, in `templates/papers` or `templates/queries`.
"""

from dataclasses import replace
from importlib.resources import files
from typing import Any, Final, Literal

import sqlalchemy as sa

from pinakes.errors import UnknownNameError
from pinakes.queries.definition import Benchmark
from pinakes.schema import corpora, papers

Side = Literal["papers", "queries"]

_COLUMNS: Final = {
    "queries": ("query_id", "paper_id", "text"),
    "judgments": ("query_id", "paper_id", "grade"),
}

_CANDIDATES: Final = {
    "shared": ("paper_id",),
    "per_query": ("query_id", "paper_id"),
    "grouped": ("pool", "paper_id"),
}


def relation(benchmark: Benchmark, view: str) -> sa.TableClause:
    """One of the benchmark's views, with the columns that every benchmark has (and its grouping columns)."""
    names = list(_COLUMNS.get(view, _CANDIDATES[_pool_kind(benchmark)]))
    if view == "queries":
        names += [name for name in _grouping(benchmark) if name not in names]
    if view == "candidates" and benchmark.candidate_types:
        names.append("source")
    return sa.table(view, *(sa.column(name) for name in names), schema=benchmark.name)


def requested_queries(benchmark: Benchmark) -> sa.FromClause:
    """The queries that are asked, called `queries`, with the columns of `relation`."""
    view = relation(benchmark, "queries")
    chosen = _requested(benchmark, view)
    return sa.select(*view.c).where(*chosen).subquery("queries") if chosen else view.alias("queries")


def requested_candidates(benchmark: Benchmark) -> sa.FromClause:
    """The candidates of the queries that are asked, called `candidates`, with the columns of `relation`."""
    view = relation(benchmark, "candidates")
    chosen: list[sa.ColumnElement[bool]] = []
    if benchmark.part is not None:
        chosen = [view.c.pool == benchmark.part]
    elif benchmark.pool == "grouped":
        chosen = [view.c.pool.in_(sa.select(requested_queries(benchmark).c.pool))]
    elif benchmark.pool == "per_query":
        chosen = _of_requested(benchmark, view)
    return sa.select(*view.c).where(*chosen).subquery("candidates") if chosen else view.alias("candidates")


def _requested(benchmark: Benchmark, queries: sa.TableClause) -> list[sa.ColumnElement[bool]]:
    """What holds of the queries that are asked; nothing where all of them are."""
    chosen: list[sa.ColumnElement[bool]] = []
    if benchmark.part is not None:
        chosen.append(queries.c.pool == benchmark.part)
    if benchmark.tuning_folds:
        in_folds = sa.func.coalesce(queries.c[str(benchmark.fold_column)], "").in_(
            sorted(benchmark.tuning_folds)
        )
        chosen.append(in_folds if benchmark.tuning else ~in_folds)
    return chosen


def _of_requested(benchmark: Benchmark, rows: sa.FromClause) -> list[sa.ColumnElement[bool]]:
    """What holds of rows of queries that are asked; a query that is none is kept, to be seen."""
    if not benchmark.tuning_folds:
        return []
    if benchmark.tuning:
        return [rows.c.query_id.in_(sa.select(requested_queries(benchmark).c.query_id))]
    left_out = requested_queries(replace(benchmark, tuning=True))
    return [rows.c.query_id.not_in(sa.select(left_out.c.query_id).where(left_out.c.query_id.is_not(None)))]


def _pool_kind(benchmark: Benchmark) -> str:
    return benchmark.pool if benchmark.part is None else "grouped"


def _grouping(benchmark: Benchmark) -> tuple[str, ...]:
    pool = "pool" if _pool_kind(benchmark) == "grouped" else None
    columns = (*benchmark.group_by, benchmark.fold_column, benchmark.repeat_column, pool)
    return tuple(dict.fromkeys(column for column in columns if column))


def list_templates(side: Side) -> list[str]:
    """The names of the templates for papers or for queries."""
    folder = files("pinakes.queries").joinpath("templates", side)
    return sorted(
        entry.name.removesuffix(".sql") for entry in folder.iterdir() if entry.name.endswith(".sql")
    )


def read_template(side: Side, name: str) -> sa.ColumnElement[Any]:
    """The template's expression, as a column named `text`.

    A name may carry a prefix for every text, as `query: {text}` does for the template `text`.

    Raises:
        UnknownNameError: there is no such template; the message lists the known ones.
    """
    prefix, template = split_template(name)
    if template not in list_templates(side):
        raise UnknownNameError(f"text template for {side}", template, list_templates(side))
    text = files("pinakes.queries").joinpath("templates", side, f"{template}.sql").read_text(encoding="utf-8")
    return prefix_text(sa.literal_column(f"({text.strip()})", sa.Text).label("text"), prefix)


def split_template(name: str) -> tuple[str, str]:
    """The prefix and the name of a template.

    >>> split_template("query: {text}"), split_template("text")
    (('query: ', 'text'), ('', 'text'))
    """
    if name.endswith("}") and "{" in name:
        prefix, _, template = name.removesuffix("}").rpartition("{")
        return prefix, template
    return "", name


def prefix_text(text: sa.ColumnElement[Any], prefix: str) -> sa.ColumnElement[Any]:
    """A text with a prefix that its encoder asks for, as `query: `, as a column named `text`.

    The prefix is a bound parameter and part of what is digested, so that a query and a paper of the same
    words never share a vector where their prefixes differ. An empty text stays empty: it has no vector.
    """
    if not prefix:
        return text
    element = text.element if isinstance(text, sa.Label) else text
    return sa.case((element == "", ""), else_=sa.literal(prefix, sa.Text) + element).label("text")


def select_queries(benchmark: Benchmark, template: str | None = None) -> sa.Select[Any]:
    """query_id, text, paper_id and the grouping columns of every query that is asked, by query_id."""
    queries = requested_queries(benchmark)
    grouping = [queries.c[name] for name in _grouping(benchmark)]
    text = read_template("queries", template or benchmark.query_template)
    source = queries.outerjoin(papers, queries.c.paper_id == papers.c.paper_id)
    columns = (queries.c.query_id, text, queries.c.paper_id, *grouping)
    return sa.select(*columns).select_from(source).order_by(queries.c.query_id)


def select_candidates(benchmark: Benchmark) -> sa.Select[Any]:
    """paper_id of every candidate, with its query_id where each query has its own pool; in no order."""
    candidates = requested_candidates(benchmark)
    keys = [candidates.c[name] for name in _CANDIDATES[benchmark.pool]]
    return sa.select(*keys).where(candidates.c.paper_id.in_(sa.select(papers.c.paper_id)))


def select_pool_members(benchmark: Benchmark) -> sa.Select[Any]:
    """pool and paper_ids of every grouped pool that is asked: the ids of its members with commas between.

    In no order. One text for a pool: millions of rows would take many times as long to fetch.
    """
    candidates = requested_candidates(benchmark)
    paper_id = sa.cast(candidates.c.paper_id, sa.Text)
    paper_ids = sa.func.string_agg(paper_id, sa.literal_column("','", sa.Text)).label("paper_ids")
    return sa.select(candidates.c.pool, paper_ids).group_by(candidates.c.pool)


def select_judgments(benchmark: Benchmark) -> sa.Select[Any]:
    """query_id, source_id and grade of every judgment of the queries asked, by query and source id."""
    judgments = relation(benchmark, "judgments").alias("judgments")
    joined = judgments.join(papers, judgments.c.paper_id == papers.c.paper_id)
    columns = (judgments.c.query_id, papers.c.source_id, judgments.c.grade)
    requested = sa.select(*columns).select_from(joined).where(*_of_requested(benchmark, judgments))
    return requested.order_by(judgments.c.query_id, papers.c.source_id)


def select_candidate_texts(benchmark: Benchmark, template: str | None = None) -> sa.Select[Any]:
    """paper_id and text of every paper that is a candidate of any query asked, by paper_id."""
    candidates = sa.select(requested_candidates(benchmark).c.paper_id)
    return select_paper_texts(candidates, template or benchmark.paper_template)


def select_paper_texts(chosen: sa.Select[Any], template: str) -> sa.Select[Any]:
    """paper_id and text of every paper that a select of paper_ids gives, by paper_id."""
    text = read_template("papers", template)
    is_chosen = papers.c.paper_id.in_(chosen)
    return sa.select(papers.c.paper_id, text).where(is_chosen).order_by(papers.c.paper_id)


def select_corpus_texts(corpus: str, template: str) -> sa.Select[Any]:
    """paper_id, text and title (empty where there is none) of every paper of a corpus, by paper_id."""
    joined = papers.join(corpora, papers.c.corpus_id == corpora.c.corpus_id)
    text = read_template("papers", template)
    title = sa.func.coalesce(papers.c.title, "").label("title")
    chosen = corpora.c.name == corpus
    columns = (papers.c.paper_id, text, title)
    return sa.select(*columns).select_from(joined).where(chosen).order_by(papers.c.paper_id)
