"""Rankings by sentences: their vectors, grouped by query and by paper, and the ranking of each query."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.indexers.lexical import positions_of
from pinakes.indexers.names import Distance
from pinakes.indexers.transport.best_pairs import VectorGroups, group_vectors, order_pool
from pinakes.matrices import to_matrix
from pinakes.progress import Progress
from pinakes.systems.base import Ranking
from pinakes.systems.rankings import report_rankings
from pinakes.systems.sentences.matching import Matching
from pinakes.systems.sentences.requested import SelectedVectors, read_requested_facets, restrict_to_facet
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
    candidates: str = "all"


def rank_sentences(
    database: Database,
    workload: Workload,
    vectors: SelectedVectors,
    compared: Comparison,
    progress: Progress,
) -> Iterator[Ranking]:
    """The ranking of each query that has a vector, of the candidates that have one to match with.

    One rule for every match and every pool: what has no sentence is not scored, and in no ranking.
    """
    facets = [None] if compared.candidates == "all" else read_requested_facets(database, workload)
    for facet in facets:
        with database.read() as session:
            selected = vectors if facet is None else restrict_to_facet(workload, vectors, facet)
            queries = _fetch_queries(session, workload, selected.queries)
            candidates = _fetch_candidates(session, workload, selected.candidates)
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
    rankings = (one for one in rank(workload, queries, candidates, compared) if len(one.rows))
    total = len(np.unique(queries.owners))
    return report_rankings(rankings, workload, compared.name, total, progress)


def _rank_shared(
    workload: Workload, queries: VectorGroups, candidates: VectorGroups, compared: Comparison
) -> Iterator[Ranking]:
    depth = workload.benchmark.depth or max(1, candidates.count)
    found = compared.matching.search(queries, candidates, depth, compared.distance, workload.tie_order)
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
        found = compared.matching.score(requested, candidates, pool, compared.distance)
        rows, scores = order_pool(pool, found, workload.tie_order)
        depth = workload.benchmark.depth or len(rows)
        yield Ranking(query_id, rows[:depth], scores[:depth])


def _fetch_queries(session: Session, workload: Workload, select: sa.Select[Any]) -> VectorGroups:
    """The vectors of (query_id, position, embedding), grouped by the query's row in `query_ids`."""
    row_of = {query_id: row for row, query_id in enumerate(workload.query_ids)}

    def find_rows(part: Any) -> Ids:
        return np.array([row_of[query_id] for query_id in part["query_id"].to_pylist()], dtype=np.int64)

    return _fetch(session, select, find_rows, len(workload.query_ids))


def _fetch_candidates(session: Session, workload: Workload, select: sa.Select[Any]) -> VectorGroups:
    """The vectors of (paper_id, position, embedding), grouped by the paper's row in `paper_ids`."""

    def find_rows(part: Any) -> Ids:
        ids = part["paper_id"].to_numpy().astype(np.int64)
        return positions_of(ids, workload.paper_ids, "the candidates as they were read before")

    return _fetch(session, select, find_rows, len(workload.paper_ids))


def _fetch(
    session: Session, select: sa.Select[Any], find_rows: Callable[[Any], Ids], count: int
) -> VectorGroups:
    parts = [
        (find_rows(part), part["position"].to_numpy().astype(np.int64), to_matrix(part["embedding"]))
        for part in session.stream(select, rows=ROWS_AT_ONCE)
    ]
    if not parts:
        nothing = np.empty(0, dtype=np.int64)
        return VectorGroups(np.empty((0, 1), dtype=np.float32), nothing, count)
    owners, positions, vectors = (np.concatenate(column) for column in zip(*parts, strict=True))
    return group_vectors(vectors, owners, positions, count)
