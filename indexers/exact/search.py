"""Exact nearest-neighbour search: every document is looked at, and the order is total.

Score (float32) descending, then the rank of the document's id, then the row: the same at any number of
threads, any block size, on any device, by any pass. A cheap pass finds the candidates (`exact_int8`,
`exact_product`), with a proven bound on its error that keeps every document that could belong;
`exact_scores` scores them anew and alone decides. The documents are read once, block by block.
"""

import mmap
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, Literal, NamedTuple, get_args

import numpy as np
import torch
from numpy.typing import NDArray

from pinakes.errors import IndexingError, UnknownNameError
from pinakes.indexers.encoder.model import choose_precision
from pinakes.indexers.exact import int8 as exact_int8
from pinakes.indexers.exact import product as exact_product
from pinakes.indexers.exact.amx import has_amx
from pinakes.indexers.exact.best import Best, push
from pinakes.indexers.exact.filter import filter_pairs
from pinakes.indexers.exact.kernel import has_kernel
from pinakes.indexers.exact.scores import (
    CheckedVectors,
    Distance,
    Rows,
    Vectors,
    check_vectors,
    require_distance,
    require_width,
    score_rows,
    share,
)

TieOrder = NDArray[np.integer]
Pass = Literal["int8", "bf16", "fp16", "fp32"]

BLOCK_ROWS: Final = 1 << 14
LARGEST_LENGTH = 1e18  # the square of a length has to stay in float32
FEW_QUERIES: Final = 32  # below, a float32 product reads the documents in the time that bytes need to be made


class Block(NamedTuple):
    """Documents in any order: their rows (n,), each number from 0 once in all, and vectors (n, d)."""

    rows: Rows
    vectors: Vectors


def search_exact(
    queries: Vectors,
    documents: Vectors | Iterable[Vectors | Block],
    k: int,
    distance: Distance = "cosine",
    tie_order: TieOrder | None = None,
    device: str = "cpu",
    block_rows: int | None = None,
    *,
    pool: Rows | None = None,
    method: Pass | Literal["auto"] = "auto",
) -> tuple[Rows, Vectors]:
    """The `k` best documents of each query: rows (q, min(k, n)) int64 and scores of that shape, best first.

    `queries` is (q, d), `documents` a matrix (n, d), which may lie in a file (`vector_files`), or its
    blocks, in order or each with its rows (`Block`); a block is read once, so that memory holds one and
    the best so far. `tie_order`
    (n,) ranks each document among equals, lowest first (trec_eval's order: the source's id, byte-wise
    descending). `pool` names the rows that are searched, if not all: min(k, pool) are found. Scores are
    higher-is-better: the cosine (0 with a vector of zeros), the inner product, or minus the Euclidean
    distance. `method` says how candidates are found, which changes speed and nothing else. Raises
    `IndexingError` for numbers that are not finite or shapes that do not fit.

    Trap: where `k` cuts through ties, `tie_order` says which of them are in, so give the true one.
    """
    require_distance(distance)
    if k < 1:
        raise IndexingError(f"k is {k}; expected at least 1")
    checked = check_vectors(queries, "query")
    wanted = None if pool is None else np.unique(np.asarray(pool, dtype=np.int64))
    most = None if wanted is None else len(wanted)
    if isinstance(documents, np.ndarray):
        most = min(len(documents), len(documents) if most is None else most)
    kind = choose_pass(method, checked, device)
    search = Search(checked, k if most is None else max(1, min(k, most)), distance, tie_order, device, kind)
    rows = 0
    for block in _blocks(documents, block_rows or BLOCK_ROWS):
        search.add(block, wanted)
        rows += len(block.rows)
    if tie_order is not None and len(tie_order) != rows:
        raise IndexingError(f"tie_order ranks {len(tie_order)} documents; expected all {rows}")
    if wanted is not None and len(wanted) and not 0 <= wanted[0] <= wanted[-1] < rows:
        raise IndexingError(f"the pool names rows {wanted[0]} to {wanted[-1]}; expected 0 to {rows - 1}")
    return search.best.take(min(k, search.seen))


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
    return next(score_pools(query[None, :], documents, [pool], distance, tie_order))


def score_pools(
    queries: Vectors,
    documents: Vectors,
    pools: Sequence[Rows],
    distance: Distance = "cosine",
    tie_order: TieOrder | None = None,
) -> Iterator[tuple[Rows, Vectors]]:
    """Each query's pool in rank order, as `score_pool` gives it, in the queries' order.

    `queries` is (q, d), and `pools` has one pool of rows for each. Pools are scored by torch's number of
    threads. `documents` may lie in a file: the rows of the pools are read, no others.
    """
    require_distance(distance)
    checked = check_vectors(queries, "query")
    if len(pools) != len(queries):
        raise IndexingError(f"there are {len(pools)} pools for {len(queries)} queries; expected one for each")
    rank = partial(_rank_pool, checked, documents, distance, tie_order)
    threads = torch.get_num_threads() if len(pools) > 1 else 1
    with ThreadPoolExecutor(threads) as workers:
        # A few at a time, so that memory holds the results of no more.
        step = 64 * threads
        for start in range(0, len(pools), step):
            numbers = range(start, min(start + step, len(pools)))
            yield from workers.map(rank, numbers, [pools[number] for number in numbers])


def _rank_pool(
    queries: CheckedVectors,
    documents: Vectors,
    distance: Distance,
    tie_order: TieOrder | None,
    number: int,
    pool: Rows,
) -> tuple[Rows, Vectors]:
    pooled = check_vectors(documents[pool], "pool document")
    require_width(queries, pooled)
    everyone = np.arange(len(pool), dtype=np.int64)
    scores = score_rows(queries, pooled, np.full_like(everyone, number), everyone, distance)
    order = np.lexsort((pool, pool if tie_order is None else tie_order[pool], -scores))
    return pool[order], scores[order]


class Search:
    """The best documents of the blocks that were added."""

    def __init__(
        self,
        queries: CheckedVectors,
        k: int,
        distance: Distance,
        tie_order: TieOrder | None,
        device: str,
        kind: Pass,
    ) -> None:
        self.queries, self.k, self.distance, self.device, self.kind = queries, k, distance, device, kind
        self.best = Best(len(queries.values), k, tie_order)
        self.seen = 0
        self._quantised: exact_int8.Int8Queries | None = None

    def add(self, part: Block, pool: Rows | None) -> None:
        """Take in a block, or those documents of it that `pool` names."""
        rows, vectors = part
        if pool is not None:
            chosen = np.isin(rows, pool)
            rows, vectors = rows[chosen], vectors[chosen]
        block = check_vectors(vectors, "document", int(rows[0]) if len(rows) else 0)
        require_width(self.queries, block)
        if not len(rows):
            return
        exact_product.require_lengths(self.queries, self.distance, LARGEST_LENGTH)
        exact_product.require_lengths(block, self.distance, LARGEST_LENGTH)
        take = partial(self._take, block, self.best.ranks(rows))
        self.seen += len(rows)
        if not len(self.queries.values):
            return
        if self.kind == "int8":
            self._scan(block, take)
        else:
            found = partial(self._take_sorted, block, block.lengths.astype(np.float32), take)
            exact_product.find_pairs(
                self.queries,
                block,
                self.k,
                self.distance,
                self.kind,
                self.device,
                self.best.lowest,
                found,
            )

    def _scan(self, block: CheckedVectors, take: Callable[[Rows, Rows], None]) -> None:
        if self._quantised is None:
            mean = exact_int8.choose_mean(block, self.distance)
            self._quantised = exact_int8.quantise_queries(self.queries, self.distance, mean)
        packed = exact_int8.quantise_block(block, self._quantised)
        step, total = exact_int8.QUERIES_AT_ONCE, len(self.queries.values)
        parts = [slice(start, min(start + step, total)) for start in range(0, total, step)]
        with ThreadPoolExecutor(torch.get_num_threads()) as workers:
            scan = partial(
                self._scan_part, self._quantised, packed, block, block.lengths.astype(np.float32), take
            )
            for _ in workers.map(scan, parts):
                pass

    def _take_sorted(
        self,
        block: CheckedVectors,
        lengths: Vectors,
        take: Callable[[Rows, Rows], None],
        query: Rows,
        document: Rows,
    ) -> None:
        def work(first: int, stop: int) -> None:
            bounds = slice(*np.searchsorted(query, (first, stop)))
            part = slice(first, stop)
            chosen, documents = query[bounds] - first, document[bounds].copy()
            self._filter(block, lengths, take, part, chosen, documents)

        share(work, len(self.queries.values), 64)

    def _filter(
        self,
        block: CheckedVectors,
        lengths: Vectors,
        take: Callable[[Rows, Rows], None],
        part: slice,
        query: Rows,
        document: Rows,
    ) -> None:
        # Heaps of different queries share nothing, so that threads need no lock.
        kept = len(query)
        if has_kernel():
            lowest = self.best.lowest(part)
            kept = filter_pairs(self.queries, block, lengths, part, lowest, self.distance, query, document)
        take(query[:kept] + part.start, document[:kept])

    def _scan_part(
        self,
        queries: exact_int8.Int8Queries,
        packed: exact_int8.Int8Block,
        block: CheckedVectors,
        lengths: Vectors,
        take: Callable[[Rows, Rows], None],
        part: slice,
    ) -> None:
        for query, document in exact_int8.scan_block(queries, packed, part, self.best.lowest):
            self._filter(block, lengths, take, part, query, document)

    def _take(self, block: CheckedVectors, ranks: NDArray[np.uint32], query: Rows, document: Rows) -> None:
        scores = score_rows(self.queries, block, query, document, self.distance)
        push(self.best.keys, query, document, ranks, scores.view(np.uint32))


def choose_pass(requested: Pass | Literal["auto"], queries: CheckedVectors, device: str) -> Pass:
    """The pass that `auto` stands for here, or `asked` itself; an error if it cannot be had."""
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


def _blocks(documents: Vectors | Iterable[Vectors | Block], block_rows: int) -> Iterator[Block]:
    first = 0
    for part in [documents] if isinstance(documents, np.ndarray) else documents:
        rows, vectors = part if isinstance(part, Block) else (np.arange(first, first + len(part)), part)
        first += len(vectors)
        for start in range(0, len(vectors), block_rows):
            chosen = slice(start, start + block_rows)
            yield Block(rows[chosen], vectors[chosen])
            let_go(vectors)


def let_go(vectors: Vectors) -> None:
    """Let go of what was read of a file: pages count as resident until then; the file keeps them."""
    if isinstance(vectors, np.memmap) and vectors.mode == "r":
        vectors._mmap.madvise(mmap.MADV_DONTNEED)  # type: ignore[attr-defined]
