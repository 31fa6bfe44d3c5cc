"""Exact nearest-neighbour search: every document is looked at, and the order is total.

Score (float32) descending, then the rank of the document's id, then the row: the same at any number of
threads, any block size, on any device. A blocked float32 product finds the candidates, with a bound on its
rounding that keeps every document that could belong; `exact_scores` scores them anew and alone decides.
Leaves out: where vectors come from, and what their rows are called.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray

from pinakes.errors import IndexingError
from pinakes.indexers.exact_scores import (
    CheckedVectors,
    Distance,
    Rows,
    Vectors,
    check_vectors,
    require_distance,
    require_width,
    score_rows,
)

TieOrder = NDArray[np.integer]

LEAST_BLOCK_ROWS, MOST_BLOCK_ROWS = 1 << 14, 1 << 17
SCORES_AT_ONCE = 1 << 24  # float32: 64 MiB of a product's result
UNIT_ROUNDOFF = 2.0**-24
SMALLEST_NORMAL = 2.0**-126
LARGEST_LENGTH = 1e18  # the square of a length has to stay in float32


def search_exact(
    queries: Vectors,
    documents: Vectors | Iterable[Vectors],
    k: int,
    distance: Distance = "cosine",
    tie_order: TieOrder | None = None,
    device: str = "cpu",
    block_rows: int | None = None,
) -> tuple[Rows, Vectors]:
    """The `k` best documents of each query: rows (q, min(k, n)) int64 and scores of that shape, best first.

    `queries` is (q, d), `documents` a matrix (n, d) or its blocks in order; `tie_order` (n,) ranks each
    document among equals, lowest first (trec_eval's order: the source's id, byte-wise descending). Scores
    are higher-is-better: the cosine (0 with a vector of zeros), the inner product, or minus the Euclidean
    distance. Raises `IndexingError` for numbers that are not finite or shapes that do not fit.

    Trap: where `k` cuts through ties, `tie_order` says which of them are in, so give the true one.
    """
    require_distance(distance)
    if k < 1:
        raise IndexingError(f"k is {k}; expected at least 1")
    search = _Search(check_vectors(queries, "query"), k, distance, tie_order, device)
    rows = 0
    for part in _blocks(documents, block_rows or _choose_block_rows(len(queries))):
        block = check_vectors(part, "document", rows)
        require_width(search.queries, block)
        search.add(block, rows)
        rows += len(part)
    if tie_order is not None and len(tie_order) != rows:
        raise IndexingError(f"tie_order ranks {len(tie_order)} documents; expected all {rows}")
    return search.documents, search.scores


def score_pool(
    query: Vectors,
    documents: Vectors,
    pool: Rows,
    distance: Distance = "cosine",
    tie_order: TieOrder | None = None,
) -> tuple[Rows, Vectors]:
    """One query's pool in rank order: the rows of `documents` that `pool` names, and their exact scores.

    `query` is (d,), `pool` (p,) without duplicates. Scores and order are those of `search_exact`, to the bit.
    """
    require_distance(distance)
    queries, pooled = check_vectors(query[None, :], "query"), check_vectors(documents[pool], "pool document")
    require_width(queries, pooled)
    everyone = np.arange(len(pool), dtype=np.int64)
    scores = score_rows(queries, pooled, np.zeros_like(everyone), everyone, distance)
    order = np.lexsort((pool, pool if tie_order is None else tie_order[pool], -scores))
    return pool[order], scores[order]


@dataclass(slots=True)
class _Search:
    """The best documents so far; every query has the same number of them, ordered by rank."""

    queries: CheckedVectors
    k: int
    distance: Distance
    tie_order: TieOrder | None
    device: str
    documents: Rows = field(init=False)  # (q, held)
    scores: Vectors = field(init=False)  # (q, held)

    def __post_init__(self) -> None:
        self.documents = np.empty((len(self.queries.values), 0), dtype=np.int64)
        self.scores = np.empty((len(self.queries.values), 0), dtype=np.float32)

    def add(self, block: CheckedVectors, first_row: int) -> None:
        """Take in the documents of a block, whose first is the row `first_row`."""
        total, block_rows = len(self.queries.values), len(block.values)
        held = min(self.k, self.scores.shape[1] + block_rows)
        documents = np.empty((total, held), dtype=np.int64)
        scores = np.empty((total, held), dtype=np.float32)
        right = _scale(block, self.distance)
        step = max(1, SCORES_AT_ONCE // block_rows)
        for start in range(0, total, step):
            part = slice(start, start + step)
            queries = CheckedVectors(self.queries.values[part], self.queries.lengths[part])
            query, document = self._candidates(part, _scale(queries, self.distance), right)
            exact = score_rows(queries, block, query, document, self.distance)
            documents[part], scores[part] = self._merge(part, held, query, document + first_row, exact)
        self.documents, self.scores = documents, scores

    def _candidates(self, part: slice, left: CheckedVectors, right: CheckedVectors) -> tuple[Rows, Rows]:
        queries, block = (torch.from_numpy(side.values).to(self.device) for side in (left, right))
        product = queries @ block.T
        if self.distance == "l2":  # minus the squared distance: the same order
            product = 2 * product - _column(left.lengths**2, product) - _column(right.lengths**2, product).T
        bound = _rounding_bound(left.lengths, right.lengths.max(), block.shape[1], self.distance)
        if self.scores.shape[1] == self.k:
            floor = _lowest_kept(self.scores[part, -1].astype(np.float64), self.distance)
        else:
            kth = torch.topk(product, min(self.k, product.shape[1]), dim=1, sorted=True).values[:, -1]
            floor = kth.cpu().numpy().astype(np.float64) - bound
        # Rounded down, because the comparison is one of float32 numbers.
        threshold = np.nextafter((floor - bound).astype(np.float32), np.float32(-np.inf))
        query, document = torch.nonzero(product >= _column(threshold, product), as_tuple=True)
        return query.cpu().numpy(), document.cpu().numpy()

    def _merge(
        self, part: slice, held: int, query: Rows, document: Rows, scores: Vectors
    ) -> tuple[Rows, Vectors]:
        before = self.documents[part]
        query = np.concatenate((np.repeat(np.arange(len(before)), before.shape[1]), query))
        document = np.concatenate((before.ravel(), document))
        scores = np.concatenate((self.scores[part].ravel(), scores))
        ties = document if self.tie_order is None else self._ranks(document)
        order = np.lexsort((document, ties, -scores, query))
        starts = np.searchsorted(query[order], np.arange(len(before)))
        kept = order[starts[:, None] + np.arange(held)]
        return document[kept], scores[kept]

    def _ranks(self, document: Rows) -> TieOrder:
        if self.tie_order is None or document.max(initial=-1) >= len(self.tie_order):
            raise IndexingError("tie_order ranks fewer documents than there are; expected one rank for each")
        return self.tie_order[document]


def _blocks(documents: Vectors | Iterable[Vectors], block_rows: int) -> Iterator[Vectors]:
    for part in [documents] if isinstance(documents, np.ndarray) else documents:
        for start in range(0, len(part), block_rows):
            yield part[start : start + block_rows]


def _choose_block_rows(queries: int) -> int:
    return min(MOST_BLOCK_ROWS, max(LEAST_BLOCK_ROWS, SCORES_AT_ONCE // max(1, queries)))


def _scale(vectors: CheckedVectors, distance: Distance) -> CheckedVectors:
    # What the product takes: vectors of length 1 (or 0) for the cosine, else the vectors themselves.
    if distance != "cosine":
        if vectors.lengths.max(initial=0.0) > LARGEST_LENGTH:
            raise IndexingError(f"a vector is longer than {LARGEST_LENGTH:g}; scale all of them down")
        return vectors
    scaled = vectors.values / np.where(vectors.lengths > 0, vectors.lengths, 1.0)[:, None]
    return CheckedVectors(scaled.astype(np.float32), np.ones_like(vectors.lengths))


def _rounding_bound(
    left: NDArray[np.float64], longest: float, dimensions: int, distance: Distance
) -> NDArray[np.float64]:
    # Higham, Accuracy and Stability of Numerical Algorithms, section 3.1: a float32 inner product in any
    # order is off by at most d u / (1 - d u) |x||y|. 32 more roundings cover scaling, the squared lengths
    # and the float32 of the final score; the last term covers results below the smallest normal number.
    roundings = 1.1 * (dimensions + 32) * UNIT_ROUNDOFF
    size = (left + longest) ** 2 if distance == "l2" else left * longest
    return roundings * size + dimensions * SMALLEST_NORMAL


def _lowest_kept(scores: NDArray[np.float64], distance: Distance) -> NDArray[np.float64]:
    # The least product that may still round to a float32 score as good as the k-th.
    values = -(scores**2) if distance == "l2" else scores
    return values - 8 * UNIT_ROUNDOFF * np.abs(values)


def _column(values: NDArray[np.floating], like: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(values.astype(np.float32)).to(like.device)[:, None]
