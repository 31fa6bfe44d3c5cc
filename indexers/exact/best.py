"""The best documents of each query so far.

A document is one number of 64 bits, its score (float32) above the rank that says who comes first among
equals, so that one comparison decides and neither the pass, the order of arrival nor a thread can matter.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import IndexingError
from pinakes.indexers.exact.scores import Rows, Vectors, share
from pinakes.indexers.order import TieRanks
from pinakes.jit import jit

Keys = NDArray[np.uint64]

MOST_DOCUMENTS: Final = 2**32 - 1
TAKEN_AT_ONCE: Final = 64  # queries whose keys stay in a cache


class Ties:
    """Who comes first among equals: by `tie_order`, equal ones by row; by row alone where it is None."""

    def __init__(self, tie_order: TieRanks | None) -> None:
        self._order: Rows | None = None
        self._ranks: NDArray[np.uint32] | None = None
        if tie_order is not None:
            self._order = np.lexsort((np.arange(len(tie_order)), tie_order))
            self._ranks = np.empty(len(tie_order), dtype=np.uint32)
            self._ranks[self._order] = np.arange(len(tie_order), dtype=np.uint32)

    def ranks(self, rows: Rows) -> NDArray[np.uint32]:
        """The rank among equals of each row; `IndexingError` if `tie_order` does not reach so far."""
        last = int(rows.max(initial=-1))
        if last >= MOST_DOCUMENTS:
            raise IndexingError(f"more than {MOST_DOCUMENTS} documents; search them in parts")
        if self._ranks is None:
            return rows.astype(np.uint32)
        if last >= len(self._ranks):
            raise IndexingError("tie_order ranks fewer documents than there are; expected one rank for each")
        return self._ranks[rows]

    def rows(self, ranks: Rows) -> Rows:
        """The rows that have these ranks."""
        return ranks if self._order is None else self._order[ranks]


class Best:
    """The `k` largest keys of each query, kept as heaps: the first of a row is its smallest.

    A heap is filled from its end; `held` (q,) says how many keys each query has.
    """

    def __init__(self, queries: int, k: int, ties: Ties) -> None:
        self.keys = np.zeros((queries, k), dtype=np.uint64)  # 0: nothing yet
        self.held = np.zeros(queries, dtype=np.int64)
        self.depth = k
        self.ties = ties

    def lowest(self, part: slice = slice(None)) -> NDArray[np.float64]:
        """The k-th best score of each query, minus infinity while it has fewer."""
        return key_scores(self.keys[part, 0])

    def take(self, held: int) -> tuple[Rows, Vectors]:
        """Rows and scores of the `held` best of each query, best first."""
        rows = np.empty((len(self.keys), held), dtype=np.int64)
        scores = np.empty((len(self.keys), held), dtype=np.float32)

        def work(first: int, stop: int) -> None:
            for start in range(first, stop, TAKEN_AT_ONCE):
                part = slice(start, min(start + TAKEN_AT_ONCE, stop))
                write_best(np.sort(self.keys[part], axis=1), rows[part], scores[part].view(np.uint32))
                rows[part] = self.ties.rows(rows[part])

        share(work, len(self.keys), TAKEN_AT_ONCE)
        return rows, scores


def key_scores(keys: Keys) -> NDArray[np.float64]:
    """The scores of keys; minus infinity for 0.

    >>> key_scores(np.array([0, 0xC0000000_00000005, 0x407FFFFF_00000000], dtype=np.uint64)).tolist()
    [-inf, 2.0, -1.0]
    """
    high = (keys >> np.uint64(32)).astype(np.uint32)
    bits = np.where(high >> np.uint32(31), high ^ np.uint32(0x80000000), ~high)
    scores = bits.astype(np.uint32).view(np.float32).astype(np.float64)
    return np.where(keys == 0, -np.inf, scores)


@jit
def write_best(keys: Keys, ranks: Rows, bits: NDArray[np.uint32]) -> None:
    """Write what the last keys of each row stand for, last first: ranks, and the bits of float32 scores."""
    for query in range(len(keys)):
        for place in range(ranks.shape[1]):
            key = keys[query, keys.shape[1] - 1 - place]
            ranks[query, place] = np.int64(~key & np.uint64(0xFFFFFFFF))
            high = np.uint32(key >> np.uint64(32))
            bits[query, place] = high ^ np.uint32(0x80000000) if high >> np.uint32(31) else ~high


@jit
def push(
    keys: Keys,
    held: Rows,
    queries: Rows,
    documents: Rows,
    ranks: NDArray[np.uint32],
    bits: NDArray[np.uint32],
) -> None:
    """Offer documents to the heaps of `queries`; `bits` are the float32 scores' own, `ranks` of the block."""
    depth = keys.shape[1]
    for number in range(len(queries)):
        score = bits[number]
        score = ~score if score >> np.uint32(31) else score | np.uint32(0x80000000)
        low = np.uint32(0xFFFFFFFF) - ranks[documents[number]]
        key = (np.uint64(score) << np.uint64(32)) | np.uint64(low)
        query = queries[number]
        heap = keys[query]
        hole = 0
        if held[query] < depth:
            # The places behind are a heap each; this one becomes the parent of two of them.
            held[query] += 1
            hole = depth - held[query]
        elif key <= heap[0]:
            continue
        while True:
            child = 2 * hole + 1
            if child >= depth:
                break
            if child + 1 < depth and heap[child + 1] < heap[child]:
                child += 1
            if heap[child] >= key:
                break
            heap[hole] = heap[child]
            hole = child
        heap[hole] = key


@jit
def keep_between(
    queries: Rows,
    documents: Rows,
    scores: Vectors,
    least: NDArray[np.float64],
    below: NDArray[np.float64],
) -> int:
    """Move the pairs whose score is at least their query's `least`, and below `below`, to the front.

    What is behind them is lost. Gives how many they are.
    """
    kept = 0
    for number in range(len(queries)):
        query, score = queries[number], scores[number]
        queries[kept], documents[kept], scores[kept] = query, documents[number], score
        kept += int(least[query] <= score < below[query])
    return kept
