"""A benchmark's views and text templates as SQLAlchemy selects; both are SQL of ours or of the folder's.

A template is one SQL expression over `papers` or `queries`, in `templates/papers` or `templates/queries`.
Leaves out: running the selects (`pinakes.pipeline`).
"""

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
    """One of the benchmark's views, with the columns that every benchmark owes (and its grouping columns)."""
    names = list(_COLUMNS.get(view, _CANDIDATES[benchmark.pool]))
    if view == "queries":
        names += [name for name in _grouping(benchmark) if name not in names]
    if view == "candidates" and benchmark.candidate_types:
        names.append("source")
    return sa.table(view, *(sa.column(name) for name in names), schema=benchmark.name)


def _grouping(benchmark: Benchmark) -> tuple[str, ...]:
    pool = "pool" if benchmark.pool == "grouped" else None
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
    """query_id, text and the grouping columns of every query, by query_id."""
    queries = relation(benchmark, "queries").alias("queries")
    grouping = [queries.c[name] for name in _grouping(benchmark)]
    text = read_template("queries", template or benchmark.query_template)
    source = queries.outerjoin(papers, queries.c.paper_id == papers.c.paper_id)
    return sa.select(queries.c.query_id, text, *grouping).select_from(source).order_by(queries.c.query_id)


def select_candidates(benchmark: Benchmark) -> sa.Select[Any]:
    """(query_id,) paper_id and source_id of every candidate, in that order."""
    candidates = relation(benchmark, "candidates").alias("candidates")
    keys = [candidates.c[column.name] for column in relation(benchmark, "candidates").columns]
    joined = candidates.join(papers, candidates.c.paper_id == papers.c.paper_id)
    return sa.select(*keys, papers.c.source_id).select_from(joined).order_by(*keys)


def select_judgments(benchmark: Benchmark) -> sa.Select[Any]:
    """query_id, source_id and grade of every judgment, by query and source id."""
    judgments = relation(benchmark, "judgments").alias("judgments")
    joined = judgments.join(papers, judgments.c.paper_id == papers.c.paper_id)
    columns = (judgments.c.query_id, papers.c.source_id, judgments.c.grade)
    return sa.select(*columns).select_from(joined).order_by(judgments.c.query_id, papers.c.source_id)


def select_candidate_texts(benchmark: Benchmark, template: str | None = None) -> sa.Select[Any]:
    """paper_id and text of every paper that is a candidate of any query, by paper_id."""
    candidates = relation(benchmark, "candidates").alias("candidates")
    wanted = sa.select(candidates.c.paper_id)
    text = read_template("papers", template or benchmark.paper_template)
    chosen = papers.c.paper_id.in_(wanted)
    return sa.select(papers.c.paper_id, text).where(chosen).order_by(papers.c.paper_id)


def select_corpus_texts(corpus: str, template: str) -> sa.Select[Any]:
    """paper_id, text and title (empty where there is none) of every paper of a corpus, by paper_id."""
    joined = papers.join(corpora, papers.c.corpus_id == corpora.c.corpus_id)
    text = read_template("papers", template)
    title = sa.func.coalesce(papers.c.title, "").label("title")
    chosen = corpora.c.name == corpus
    columns = (papers.c.paper_id, text, title)
    return sa.select(*columns).select_from(joined).where(chosen).order_by(papers.c.paper_id)
