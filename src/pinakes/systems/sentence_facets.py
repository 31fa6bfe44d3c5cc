"""Sentences of one facet: a candidate's sentences of the facet that a query asks with, and no others.

That is the task by facets as it is defined (CSFCube, section 2, definition 1), where the published systems
read all sentences of a candidate.
"""

import hashlib
from typing import Any, Final

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import InputError
from pinakes.queries.relations import requested_candidates, requested_queries
from pinakes.queries.sentence_relations import ABSTRACT
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
