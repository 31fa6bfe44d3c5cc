"""The score of a paper with several vectors for a query with several: that of the best pair.

The largest cosine, or the smallest Euclidean distance, over all pairs of a vector of the query and one of
the paper; every score and the order are exact, as in `pinakes.indexers.exact.search`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import IndexingError
from pinakes.indexers.exact.scores import (
    Rows,
    Vectors,
    check_vectors,
    require_distance,
    require_width,
    score_rows,
)
from pinakes.indexers.exact.search import search_exact
from pinakes.indexers.names import Distance
from pinakes.indexers.order import order_best

RESULTS_AT_ONCE = 1 << 24  # hits of a search: 12 bytes each


@dataclass(frozen=True, slots=True, eq=False)
class VectorGroups:
    """Vectors (n, d) and the group, 0 to `count` - 1, that each belongs to, ascending (n,)."""

    vectors: Vectors
    owners: Rows
    count: int

    @property
    def starts(self) -> Rows:
        """Where each group starts, and the end of the last (count + 1,)."""
        return np.searchsorted(self.owners, np.arange(self.count + 1)).astype(np.int64)


def group_vectors(vectors: Vectors, owners: Rows, positions: NDArray[np.integer], count: int) -> VectorGroups:
    """Vectors (n, d) in any order, sorted by owner and then by position."""
    order = np.lexsort((positions, owners))
    return VectorGroups(vectors[order], owners[order], count)


def score_best_pairs(query: Vectors, documents: VectorGroups, pool: Rows, distance: Distance) -> Vectors:
    """The score of each group that `pool` (p,) names, float32 (p,); each must have a vector.

    `query` is (q, d). Higher is better, as in `search_exact`.

    >>> documents = VectorGroups(np.float32([[1, 0], [0, 1], [3, 4]]), np.array([0, 0, 1]), 2)
    >>> score_best_pairs(np.float32([[0, 2], [1, 1]]), documents, np.array([0, 1]), "cosine")
    array([1.        , 0.98994946], dtype=float32)
    """
    if not len(pool):
        return np.empty(0, dtype=np.float32)
    best: Vectors = np.full(len(pool), -np.inf, dtype=np.float32)
    scores, offsets = score_all_pairs(query, documents, pool, distance)
    for of_vector in scores:
        best = np.maximum(best, np.maximum.reduceat(of_vector, offsets))
    return best


def score_all_pairs(
    query: Vectors, documents: VectorGroups, pool: Rows, distance: Distance
) -> tuple[Vectors, Rows]:
    """The exact score of every vector of `query` (q, d) with every vector of the groups of `pool` (p,).

    Two arrays: the scores, float32 (q, n), the groups one after the other in the order of `pool` and each in
    its own, and where each group begins (p,). Raises `IndexingError` for a group without a vector.
    """
    require_distance(distance)
    starts = documents.starts
    lengths = starts[pool + 1] - starts[pool]
    if not len(query) or (lengths == 0).any():
        raise IndexingError("a query or a paper has no vector to pair; leave it out before scoring")
    offsets = np.cumsum(lengths) - lengths
    rows = np.arange(lengths.sum()) - np.repeat(offsets - starts[pool], lengths)
    requested, held = check_vectors(query, "query"), check_vectors(documents.vectors[rows], "document")
    require_width(requested, held)
    places = np.arange(len(rows), dtype=np.int64)
    scores = [
        score_rows(requested, held, np.full_like(places, number), places, distance)
        for number in range(len(query))
    ]
    return np.stack(scores), offsets


def order_pool(pool: Rows, scores: Vectors, tie_order: Rows) -> tuple[Rows, Vectors]:
    """The groups that `pool` names and their scores, both (p,), best first; ties by `tie_order`.

    >>> order_pool(np.array([4, 7]), np.float32([1, 2]), np.arange(8))
    (array([7, 4]), array([2., 1.], dtype=float32))
    """
    order = order_best(scores, tie_order[pool])
    return pool[order], scores[order]


def search_best_pairs(
    queries: VectorGroups,
    documents: VectorGroups,
    k: int,
    distance: Distance,
    tie_order: Rows,
    device: str = "cpu",
) -> Iterator[tuple[Rows, Vectors]]:
    """For each group of `queries` the `k` best groups of `documents`, best first, and their scores.

    Exact: where no group has more than m vectors, a query vector's (k - 1) m + 1 best vectors hold its k
    best groups, and a group among the k best of all is among the k best of the query vector that it pairs
    with.
    """
    sizes = np.diff(documents.starts)
    depth = min((k - 1) * int(sizes.max(initial=1)) + 1, len(documents.vectors))
    starts, ties = queries.starts, tie_order[documents.owners]
    for first, end in _batches(starts, max(1, RESULTS_AT_ONCE // max(1, depth))):
        requested = queries.vectors[starts[first] : starts[end]]
        if len(requested) and depth:
            rows, scores = search_exact(requested, documents.vectors, depth, distance, ties, device)
        else:
            rows, scores = np.empty((len(requested), 0), np.int64), np.empty((len(requested), 0), np.float32)
        for number in range(first, end):
            own = slice(starts[number] - starts[first], starts[number + 1] - starts[first])
            yield _best_of_each(documents.owners[rows[own].ravel()], scores[own].ravel(), k, tie_order)


def _batches(starts: Rows, vectors: int) -> Iterator[tuple[int, int]]:
    """Runs of groups with at most so many vectors together, or of one group.

    >>> list(_batches(np.array([0, 2, 3, 9, 10]), 3))
    [(0, 2), (2, 3), (3, 4)]
    """
    first, groups = 0, len(starts) - 1
    while first < groups:
        end = int(np.searchsorted(starts, starts[first] + vectors, side="right")) - 1
        end = min(max(end, first + 1), groups)
        yield first, end
        first = end


def _best_of_each(owners: Rows, scores: Vectors, k: int, tie_order: Rows) -> tuple[Rows, Vectors]:
    order = order_best(scores, tie_order[owners])
    _, first = np.unique(owners[order], return_index=True)
    kept = order[np.sort(first)[:k]]
    return owners[kept], scores[kept]
