"""Which sentences are compared: those that a benchmark has, and of these the ones of a query's facet.

A candidate's sentences of the facet that a query asks with, and no others, are the task by facets as it is
defined (CSFCube, section 2, definition 1); the published systems read all sentences of a candidate.
"""

import hashlib
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class SelectedVectors:
    """Selects of (query_id, position, embedding) and of (paper_id, position, embedding)."""

    queries: sa.Select[Any]
    candidates: sa.Select[Any]


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


def restrict_to_facet(workload: Workload, vectors: SelectedVectors, facet: str) -> SelectedVectors:
    """The vectors of the facet's queries, and of the candidates' sentences of the facet."""
    queries = requested_queries(workload.benchmark)
    of_queries = vectors.queries.subquery("of_queries")
    requested = sa.select(queries.c.query_id).where(queries.c.facet == facet)
    of_papers = vectors.candidates.subquery("of_papers")
    same = sa.and_(
        sentences.c.paper_id == of_papers.c.paper_id,
        sentences.c.position == of_papers.c.position,
        sentences.c.section_number == ABSTRACT,
        sentences.c.facet == facet,
    )
    return SelectedVectors(
        sa.select(of_queries).where(of_queries.c.query_id.in_(requested)),
        sa.select(of_papers).join_from(of_papers, sentences, same),
    )


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
    """sha256 over the sentences of queries and candidates, the same whatever our ids of the papers are."""
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
            names = rows[key]
            if key == "paper_id":
                names = [workload.source_ids[row] for row in np.searchsorted(workload.paper_ids, names)]
            for row in sorted(zip(names, rows["position"], rows["text_digest"], strict=True)):
                digest.update(("\0".join(map(str, row)) + "\n").encode())
    return digest.hexdigest()


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
