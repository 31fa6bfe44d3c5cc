"""Which sentences are compared: those that a benchmark has, and of these the ones of a query's facet.

A candidate's sentences of the facet that a query asks with, and no others, are the task by facets as it is
defined (CSFCube, section 2, definition 1); the published systems read all sentences of a candidate.
"""

import hashlib
from typing import Any, Final

import numpy as np
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import InputError, RunError
from pinakes.queries.relations import requested_candidates, requested_queries
from pinakes.queries.sentence_relations import (
    ABSTRACT,
    select_candidate_sentences,
    select_query_sentences,
)
from pinakes.schema import distinct_sentences as sentences
from pinakes.schema import papers
from pinakes.workload.workload import Workload

CANDIDATES: Final = ("all", "facet")
"""which sentences of a candidate can be chosen"""


def describe_candidates(database: Database, workload: Workload, candidates: str) -> dict[str, Any]:
    """Which sentences of a candidate are compared, and where these are of a facet, a digest of the facets.

    Raises:
        InputError: `candidates` is `facet`, and a query of the benchmark asks with none.
    """
    if candidates == "all":
        return {"candidates": candidates}
    read_requested_facets(database, workload)
    return {"candidates": candidates, "facets_digest": _digest_facets(database, workload)}


def read_requested_facets(database: Database, workload: Workload) -> list[str]:
    """The facets that queries ask with, each once, by name.

    Raises:
        InputError: a query asks with none.
    """
    queries = requested_queries(workload.benchmark)
    found: list[str | None] = [None]
    if "facet" in queries.c:
        with database.read() as session:
            found = [row["facet"] for row in session.rows(sa.select(queries.c.facet).distinct())]
    if None in found:
        raise InputError(
            f"candidates=facet compares sentences of the query's facet, and queries of "
            f"{workload.benchmark.name} ask with none. Leave the option out."
        )
    return sorted(facet for facet in found if facet is not None)


def restrict_queries(workload: Workload, select: sa.Select[Any], facet: str) -> sa.Select[Any]:
    """The rows of a select with a query_id that are of queries of the facet."""
    queries = requested_queries(workload.benchmark)
    of = select.subquery("of_queries")
    requested = sa.select(queries.c.query_id).where(queries.c.facet == facet)
    return sa.select(of).where(of.c.query_id.in_(requested))


def restrict_candidates(select: sa.Select[Any], facet: str) -> sa.Select[Any]:
    """The rows of a select of sentences (paper_id, position) that are of the facet."""
    of = select.subquery("of_papers")
    same = sa.and_(
        sentences.c.paper_id == of.c.paper_id,
        sentences.c.position == of.c.position,
        sentences.c.section_number == ABSTRACT,
        sentences.c.facet == facet,
    )
    return sa.select(of).join_from(of, sentences, same)


def _digest_facets(database: Database, workload: Workload) -> str:
    """sha256 over the facets of the candidates' sentences."""
    candidates = requested_candidates(workload.benchmark)
    chosen = papers.c.paper_id.in_(sa.select(candidates.c.paper_id))
    labelled = (
        sa.select(papers.c.source_id, sentences.c.position, sentences.c.facet)
        .join_from(papers, sentences, papers.c.paper_id == sentences.c.paper_id)
        .where(chosen, sentences.c.section_number == ABSTRACT, sentences.c.facet.is_not(None))
        .order_by(papers.c.source_id, sentences.c.position)
    )
    digest = hashlib.sha256()
    with database.read() as session:
        for row in session.rows(labelled):
            digest.update(f"{row['source_id']}\0{row['position']}\0{row['facet']}\n".encode())
    return digest.hexdigest()


def digest_sentences(database: Database, workload: Workload) -> str:
    """sha256 over the sentences of queries and candidates, the same whatever ids of ours papers have."""
    digest = hashlib.sha256()
    with database.read() as session:
        for select, key in (
            (select_query_sentences(workload.benchmark), "query_id"),
            (select_candidate_sentences(workload.benchmark), "paper_id"),
        ):
            of = select.subquery("sentences_of")
            rows = session.fetch_arrow(
                sa.select(of.c[key], of.c.position, sa.func.md5(of.c.text).label("text_digest"))
            ).to_pydict()
            names = rows[key] if key == "query_id" else _name_papers(workload, rows[key])
            for row in sorted(zip(names, rows["position"], rows["text_digest"], strict=True)):
                digest.update(("\0".join(map(str, row)) + "\n").encode())
    return digest.hexdigest()


def _name_papers(workload: Workload, paper_ids: list[int]) -> list[str]:
    return [workload.source_ids[row] for row in np.searchsorted(workload.paper_ids, paper_ids)]


def require_sentences(database: Database, workload: Workload, *, of_papers: bool = False) -> None:
    """Raise `RunError` unless candidates and queries have sentences; `of_papers`: the queries of papers."""
    name = workload.benchmark.name
    requested = select_query_sentences(workload.benchmark).subquery("requested")
    queries = (
        sa.select(requested).where(requested.c.paper_id.is_not(None)) if of_papers else sa.select(requested)
    )
    with database.read() as session:
        if session.first(select_candidate_sentences(workload.benchmark).limit(1)) is None:
            raise RunError(
                f"no candidate of {name} has a sentence in the table sentences: its corpus "
                f"{workload.benchmark.corpus} was loaded without splitting abstracts. Rank whole texts, with "
                "the encoder's name alone."
            )
        if session.first(queries.limit(1)) is None:
            raise RunError(
                f"no query of {name} has a sentence{' of a paper' if of_papers else ''} to ask with. Rank "
                "whole texts, with the encoder's name alone."
            )
