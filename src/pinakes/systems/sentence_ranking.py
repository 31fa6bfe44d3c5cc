"""What systems of sentences share: reading their vectors by query and by paper, and ranking."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import RunError
from pinakes.indexers.exact.scores import Distance, Vectors
from pinakes.indexers.lexical import positions_of
from pinakes.indexers.transport.best_pairs import VectorGroups, group_vectors
from pinakes.progress import Progress
from pinakes.queries.sentence_relations import select_candidate_sentences, select_query_sentences
from pinakes.systems.base import Ranking
from pinakes.systems.matching import Matching
from pinakes.systems.sentence_facets import (
    read_requested_facets,
    restrict_candidates,
    restrict_queries,
)
from pinakes.workload.workload import Ids, Workload

ROWS_AT_ONCE: Final = 16_384


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a system compares the sentences of queries and of papers.

    Attributes:
        name: the system's name.
        candidates: which sentences of a candidate: `all`, or those of the query's `facet`.
    """

    name: str
    matching: Matching
    distance: Distance
    device: str
    candidates: str = "all"


@dataclass(frozen=True, slots=True)
class SentenceVectors:
    """Selects of (query_id, position, embedding) and of (paper_id, position, embedding)."""

    queries: sa.Select[Any]
    candidates: sa.Select[Any]


def rank_sentences(
    database: Database,
    workload: Workload,
    vectors: SentenceVectors,
    compared: Comparison,
    progress: Progress,
) -> Iterator[Ranking]:
    """The ranking of each query that has a vector, of the candidates that have one to match with.

    One rule for every match and every pool: what has no sentence is not scored, and in no ranking.
    """
    if compared.candidates == "all":
        with database.read() as session:
            queries = fetch_query_groups(session, workload, vectors.queries)
            candidates = fetch_candidate_groups(session, workload, vectors.candidates)
        yield from _rank_groups(workload, queries, candidates, compared, progress)
        return
    for facet in read_requested_facets(database, workload):
        with database.read() as session:
            of_facet = restrict_queries(workload, vectors.queries, facet)
            queries = fetch_query_groups(session, workload, of_facet)
            of_papers = restrict_candidates(vectors.candidates, facet)
            candidates = fetch_candidate_groups(session, workload, of_papers)
        yield from _rank_groups(workload, queries, candidates, compared, progress)


def _rank_groups(
    workload: Workload,
    queries: VectorGroups,
    candidates: VectorGroups,
    compared: Comparison,
    progress: Progress,
) -> Iterator[Ranking]:
    """The ranking of each query that has a vector: groups are rows of `query_ids` and of `paper_ids`."""
    rank = _rank_shared if workload.pools is None else _rank_pools
    progress.start(f"rank {workload.benchmark.name} by {compared.name}", len(np.unique(queries.owners)))
    try:
        for ranking in rank(workload, queries, candidates, compared):
            if len(ranking.rows):
                yield ranking
                progress.advance(1)
    finally:
        progress.finish()


def _rank_shared(
    workload: Workload, queries: VectorGroups, candidates: VectorGroups, compared: Comparison
) -> Iterator[Ranking]:
    depth = workload.benchmark.depth or max(1, candidates.count)
    found = compared.matching.search(
        queries, candidates, depth, compared.distance, workload.tie_order, compared.device
    )
    for query_id, (rows, scores) in zip(workload.query_ids, found, strict=True):
        yield Ranking(query_id, rows, scores)


def _rank_pools(
    workload: Workload, queries: VectorGroups, candidates: VectorGroups, compared: Comparison
) -> Iterator[Ranking]:
    starts, sizes = queries.starts, np.diff(candidates.starts)
    for number, query_id in enumerate(workload.query_ids):
        requested = queries.vectors[starts[number] : starts[number + 1]]
        pool = (workload.pools or {})[query_id]
        pool = pool[sizes[pool] > 0] if len(requested) else pool[:0]
        rows, scores = compared.matching.rank_pool(
            requested, candidates, pool, compared.distance, workload.tie_order
        )
        depth = workload.benchmark.depth or len(rows)
        yield Ranking(query_id, rows[:depth], scores[:depth])


def fetch_query_groups(session: Session, workload: Workload, select: sa.Select[Any]) -> VectorGroups:
    """The vectors of (query_id, position, embedding), grouped by the query's row in `query_ids`."""
    row_of = {query_id: row for row, query_id in enumerate(workload.query_ids)}
    parts = [
        (
            np.array([row_of[query_id] for query_id in part["query_id"].to_pylist()], dtype=np.int64),
            part["position"].to_numpy().astype(np.int64),
            _to_matrix(part["embedding"]),
        )
        for part in session.stream(select, rows=ROWS_AT_ONCE)
    ]
    return _gather(parts, len(workload.query_ids))


def fetch_candidate_groups(session: Session, workload: Workload, select: sa.Select[Any]) -> VectorGroups:
    """The vectors of (paper_id, position, embedding), grouped by the paper's row in `paper_ids`."""
    holder = "the candidates as they were read before"
    parts = [
        (
            positions_of(part["paper_id"].to_numpy().astype(np.int64), workload.paper_ids, holder),
            part["position"].to_numpy().astype(np.int64),
            _to_matrix(part["embedding"]),
        )
        for part in session.stream(select, rows=ROWS_AT_ONCE)
    ]
    return _gather(parts, len(workload.paper_ids))


def _gather(parts: list[tuple[Ids, Ids, Vectors]], count: int) -> VectorGroups:
    if not parts:
        nothing = np.empty(0, dtype=np.int64)
        return VectorGroups(np.empty((0, 1), dtype=np.float32), nothing, count)
    owners, positions, vectors = (np.concatenate(column) for column in zip(*parts, strict=True))
    return group_vectors(vectors, owners, positions, count)


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


def _to_matrix(column: Any) -> Vectors:
    lists = column.combine_chunks()
    values = lists.flatten().to_numpy(zero_copy_only=False).astype(np.float32, copy=False)
    matrix: Vectors = values.reshape(len(lists), column.type.list_size)
    return matrix
