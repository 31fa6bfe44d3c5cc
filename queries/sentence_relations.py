"""The sentences of a benchmark's queries and candidates as SQLAlchemy selects.

A sentence is a row of `sentences` in the abstract (section 0). Which of its paper's a query says is what the
benchmark's own view `query_sentences` lists; without one, those of the query's facet where the benchmark
groups by facet, else all of them. A query that is no paper says its text, whole.
"""

from typing import Any, Final

import sqlalchemy as sa

from pinakes.queries.definition import Benchmark
from pinakes.queries.relations import requested_candidates, requested_queries
from pinakes.schema import distinct_sentences as sentences
from pinakes.schema import papers

ABSTRACT: Final = 0
QUERY_SENTENCES: Final = "query_sentences"
"""the view of a benchmark's own that lists them, as query_id, paper_id and position"""
SEPARATOR: Final = " [SEP] "
UNIT_SEPARATOR: Final = 31
"""the control character between sentences in a text that keeps its sentences separate"""


def select_query_sentences(benchmark: Benchmark) -> sa.Select[Any]:
    """query_id, paper_id, position and text of every sentence that a query asks with."""
    queries = requested_queries(benchmark)
    same = [queries.c.paper_id == sentences.c.paper_id, sentences.c.section_number == ABSTRACT]
    said: sa.FromClause = queries
    if QUERY_SENTENCES in benchmark.own_views:
        chosen = _chosen_sentences(benchmark)
        said = queries.join(chosen, queries.c.query_id == chosen.c.query_id)
        same += [chosen.c.paper_id == sentences.c.paper_id, chosen.c.position == sentences.c.position]
    elif "facet" in queries.c:
        same.append(queries.c.facet == sentences.c.facet)
    of_papers = sa.select(
        queries.c.query_id, sentences.c.paper_id, sentences.c.position, sentences.c.text
    ).select_from(said.join(sentences, sa.and_(*same)))
    of_texts = sa.select(
        queries.c.query_id, queries.c.paper_id, sa.literal(1, sa.Integer).label("position"), queries.c.text
    ).where(queries.c.paper_id.is_(None))
    both = sa.union_all(of_papers, of_texts).subquery("query_sentences")
    return sa.select(both).where(sa.func.trim(both.c.text) != "")


def _chosen_sentences(benchmark: Benchmark) -> sa.FromClause:
    columns: list[sa.ColumnClause[Any]] = [sa.column(name) for name in ("query_id", "paper_id", "position")]
    return sa.table(QUERY_SENTENCES, *columns, schema=benchmark.name).alias("chosen")


def select_candidate_sentences(benchmark: Benchmark) -> sa.Select[Any]:
    """paper_id, position and text of every sentence of every candidate's abstract."""
    candidates = requested_candidates(benchmark)
    chosen = sentences.c.paper_id.in_(sa.select(candidates.c.paper_id))
    return sa.select(sentences.c.paper_id, sentences.c.position, sentences.c.text).where(
        chosen, sentences.c.section_number == ABSTRACT, sa.func.trim(sentences.c.text) != ""
    )


def select_contextual_texts(benchmark: Benchmark | None) -> sa.Select[Any]:
    """paper_id, text_digest and text of the papers that are candidates or queries and have sentences.

    Of every paper that has sentences, where no benchmark is named.

    The text is the title, ` [SEP] ` and the sentences, a unit separator (U+001F) between them, so that the
    digest says where each sentence ends.
    """
    asked = [sa.select(papers.c.paper_id)]
    if benchmark is not None:
        sides = (requested_candidates(benchmark), requested_queries(benchmark))
        asked = [sa.select(side.c.paper_id) for side in sides]
    wanted = sa.union(*asked).subquery("wanted")
    mark = sa.func.chr(UNIT_SEPARATOR)
    told = sa.func.replace(sentences.c.text, mark, " ")
    joined = sa.func.string_agg(told, sa.literal_column(f"CHR({UNIT_SEPARATOR}) ORDER BY sentences.position"))
    text = sa.func.coalesce(papers.c.title, "") + SEPARATOR + joined
    texts = (
        sa.select(papers.c.paper_id, text.label("text"))
        .select_from(
            papers.join(wanted, papers.c.paper_id == wanted.c.paper_id).join(
                sentences, sentences.c.paper_id == papers.c.paper_id
            )
        )
        .where(sentences.c.section_number == ABSTRACT)
        .group_by(papers.c.paper_id, papers.c.title)
        .subquery("texts")
    )
    digest = sa.cast(sa.func.md5(texts.c.text), sa.Uuid).label("text_digest")
    return sa.select(texts.c.paper_id, digest, texts.c.text)
