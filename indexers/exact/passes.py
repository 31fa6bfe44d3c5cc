"""One search's state over the blocks of its documents: what a pass finds is scored, and the best are kept.

A document is one number of 64 bits, its score (float32) above the rank that says who comes first among
equals, so that one comparison decides and neither the pass, the order of arrival nor a thread can matter.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Final, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import IndexingError, UnknownNameError
from pinakes.indexers.encoder.precision import choose_precision
from pinakes.indexers.exact import int8 as exact_int8
from pinakes.indexers.exact import product as exact_product
from pinakes.indexers.exact.amx import has_amx
from pinakes.indexers.exact.filter import filter_pairs
from pinakes.indexers.exact.kernel import has_kernel
from pinakes.indexers.exact.scores import (
    CheckedVectors,
    Rows,
    Vectors,
    check_vectors,
    count_threads,
    require_distance,
    require_width,
    score_rows,
    share,
)
from pinakes.indexers.names import Distance
from pinakes.indexers.order import TieRanks
from pinakes.jit import jit

Keys = NDArray[np.uint64]
Pass = Literal["int8", "bf16", "fp16", "fp32"]

MOST_DOCUMENTS: Final = 2**32 - 1
LARGEST_LENGTH: Final = 1e18  # the square of a length has to stay in float32
FEW_QUERIES: Final = 32  # below, a float32 product reads the documents in the time that bytes need to be made


class Block(NamedTuple):
    """Documents in any order: their rows (n,), each number from 0 once in all, and vectors (n, d)."""

    rows: Rows
    vectors: Vectors


class Search:
    """The `k` best documents, for each query, of the blocks that were added.

    Raises `IndexingError` for a `k` below 1, for queries that are not finite and for a pass that cannot be
    had; `UnknownNameError` for a distance or a pass of another name.
    """

    def __init__(
        self,
        queries: Vectors,
        k: int,
        distance: Distance,
        tie_order: TieRanks | None,
        device: str,
        method: Pass | Literal["auto"],
    ) -> None:
        require_distance(distance)
        if k < 1:
            raise IndexingError(f"k is {k}; expected at least 1")
        self._queries = check_vectors(queries, "query")
        self._k, self._distance, self._device = k, distance, device
        self._method = choose_pass(method, self._queries, device)
        self._best = Best(len(queries), k, tie_order)
        self._quantised: exact_int8.Int8Queries | None = None
        self.seen = 0

    def add(self, part: Block, pool: Rows | None = None) -> None:
        """Take in a block, or those documents of it that `pool` names."""
        rows, vectors = part
        if pool is not None:
            chosen = np.isin(rows, pool)
            rows, vectors = rows[chosen], vectors[chosen]
        block = check_vectors(vectors, "document", int(rows[0]) if len(rows) else 0)
        require_width(self._queries, block)
        if not len(rows):
            return
        for checked in (self._queries, block):
            exact_product.require_lengths(checked, self._distance, LARGEST_LENGTH)
        scoring = _Scoring(self._queries, block, self._distance, self._best, self._best.ranks(rows))
        self.seen += len(rows)
        if not len(self._queries.values):
            return
        if self._method == "int8":
            self._scan(block, scoring)
            return
        exact_product.find_pairs(
            self._queries,
            block,
            self._k,
            self._distance,
            self._method,
            self._device,
            self._best.lowest,
            scoring.offer_sorted,
        )

    def take(self) -> tuple[Rows, Vectors]:
        """Rows (q, min(k, seen)) and scores of that shape, best first."""
        return self._best.take(min(self._k, self.seen))

    def _scan(self, block: CheckedVectors, scoring: "_Scoring") -> None:
        if self._quantised is None:
            mean = exact_int8.choose_mean(block, self._distance)
            self._quantised = exact_int8.quantise_queries(self._queries, self._distance, mean)
        quantised = self._quantised
        packed = exact_int8.quantise_block(block, quantised)

        def scan(part: slice) -> None:
            for query, document in exact_int8.scan_block(quantised, packed, part, self._best.lowest):
                scoring.offer(part, query, document)

        step, total = exact_int8.QUERIES_AT_ONCE, len(self._queries.values)
        parts = [slice(start, min(start + step, total)) for start in range(0, total, step)]
        with ThreadPoolExecutor(count_threads()) as workers:
            for _ in workers.map(scan, parts):
                pass


class _Scoring:
    """Scores the pairs of a block that a pass found, and keeps the best."""

    def __init__(
        self,
        queries: CheckedVectors,
        block: CheckedVectors,
        distance: Distance,
        best: "Best",
        ranks: NDArray[np.uint32],
    ) -> None:
        self._queries, self._block, self._distance = queries, block, distance
        self._best, self._ranks = best, ranks
        self._lengths = block.lengths.astype(np.float32)

    def offer(self, part: slice, query: Rows, document: Rows) -> None:
        """Pairs of documents with the queries of `part`, which count from its first; both are overwritten.

        Heaps of different queries share nothing, so that threads with parts of their own need no lock.
        """
        kept = len(query)
        if has_kernel():
            lowest = self._best.lowest(part)
            kept = filter_pairs(
                self._queries, self._block, self._lengths, part, lowest, self._distance, query, document
            )
        query, document = query[:kept] + part.start, document[:kept]
        scores = score_rows(self._queries, self._block, query, document, self._distance)
        push(self._best.keys, query, document, self._ranks, scores.view(np.uint32))

    def offer_sorted(self, query: Rows, document: Rows) -> None:
        """Pairs by query, in torch's number of threads."""

        def work(first: int, stop: int) -> None:
            bounds = slice(*np.searchsorted(query, (first, stop)))
            self.offer(slice(first, stop), query[bounds] - first, document[bounds].copy())

        share(work, len(self._queries.values), 64)


def choose_pass(requested: Pass | Literal["auto"], queries: CheckedVectors, device: str) -> Pass:
    """The pass that `auto` stands for here, or the one requested; an error if it cannot be had."""
    if requested not in ("auto", *get_args(Pass)):
        raise UnknownNameError("first pass", requested, ["auto", *get_args(Pass)])
    fits = device == "cpu" and has_kernel() and queries.values.shape[1] <= exact_int8.MOST_DIMENSIONS
    if requested == "int8" and not fits:
        raise IndexingError(
            "the int8 pass needs the CPU, its AVX2 instructions and at most "
            f"{exact_int8.MOST_DIMENSIONS} dimensions; leave the choice to `auto`"
        )
    if requested != "auto":
        return requested
    many = fits and len(queries.values) >= FEW_QUERIES
    if choose_precision(device) == "bf16" and not (many and has_amx()):
        return "bf16"
    return "int8" if many else "fp32"


class Best:
    """The `k` largest keys of each query, kept as heaps: the first of a row is its smallest."""

    def __init__(self, queries: int, k: int, tie_order: TieRanks | None) -> None:
        self.keys = np.zeros((queries, k), dtype=np.uint64)  # 0: nothing yet
        self._tie_order = tie_order
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

    def lowest(self, part: slice = slice(None)) -> NDArray[np.float64]:
        """The k-th best score of each query, minus infinity while it has fewer."""
        return key_scores(self.keys[part, 0])

    def take(self, held: int) -> tuple[Rows, Vectors]:
        """Rows and scores of the `held` best of each query, best first."""
        keys = np.sort(self.keys, axis=1)[:, ::-1][:, :held]
        ranks = (~keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
        rows = ranks if self._order is None else self._order[ranks]
        return rows, key_scores(keys).astype(np.float32)


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
def push(
    keys: Keys, queries: Rows, documents: Rows, ranks: NDArray[np.uint32], bits: NDArray[np.uint32]
) -> None:
    """Offer documents to the heaps of `queries`; `bits` are the float32 scores' own, `ranks` of the block."""
    depth = keys.shape[1]
    for number in range(len(queries)):
        score = bits[number]
        score = ~score if score >> np.uint32(31) else score | np.uint32(0x80000000)
        low = np.uint32(0xFFFFFFFF) - ranks[documents[number]]
        key = (np.uint64(score) << np.uint64(32)) | np.uint64(low)
        heap = keys[queries[number]]
        if key <= heap[0]:
            continue
        hole = 0
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
