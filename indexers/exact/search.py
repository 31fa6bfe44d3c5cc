"""Exact nearest-neighbour search: every document is looked at, and the order is total.

Score (float32) descending, then the rank of the document's id, then the row: the same at any number of
threads, any block size, on any device, by any pass. A cheap pass finds the candidates (`int8`, `product`),
with a proven bound on its error that keeps every document that could belong; `scores` scores them again and
alone decides. The documents are read once, block by block.
"""

import mmap
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Literal

import numpy as np

from pinakes.distinct import find_distinct
from pinakes.errors import IndexingError
from pinakes.indexers.exact.best import Ties
from pinakes.indexers.exact.passes import (
    DEVICE_BLOCK_ROWS,
    Block,
    Pass,
    Prepared,
    Search,
    is_accelerator,
    prepare,
)
from pinakes.indexers.exact.scores import (
    CheckedVectors,
    Rows,
    Vectors,
    check_vectors,
    count_threads,
    make_matrix,
    measure_rows,
    require_distance,
    require_width,
    score_rows,
)
from pinakes.indexers.names import Distance
from pinakes.indexers.order import TieRanks, order_best

__all__ = [
    "Block",
    "Pass",
    "Prepared",
    "prepare_documents",
    "score_pools",
    "search_exact",
    "search_nested",
    "search_prepared",
]

BLOCK_ROWS: Final = 1 << 14
ROWS_APART: Final = 1 << 10  # of a sample, read at once
PAIRS_A_TASK: Final = 1 << 14  # of own pools: to hand over one of 100 documents takes as long as to rank it


def search_exact(
    queries: Vectors,
    documents: Vectors | Iterable[Vectors | Block],
    k: int,
    distance: Distance = "cosine",
    tie_order: TieRanks | None = None,
    device: str = "cpu",
    block_rows: int | None = None,
    *,
    pool: Rows | None = None,
    method: Pass | Literal["auto"] = "auto",
) -> tuple[Rows, Vectors]:
    """The `k` best documents of each query: rows (q, min(k, n)) int64 and scores of that shape, best first.

    `queries` is (q, d), `documents` a matrix (n, d), which may be memory-mapped, or its blocks, in order or
    each with its rows (`Block`); a block is read once, so that memory holds one and the best so far.
    `tie_order` (n,) ranks each document among equals, lowest first (trec_eval's order: the source's id,
    byte-wise descending). `pool` names the rows that are searched, if not all: min(k, pool) are found.
    Scores are higher-is-better: the cosine (0 with a vector of zeros), the inner product, or minus the
    Euclidean distance. `method` says how candidates are found, which changes speed and nothing else. Raises
    `IndexingError` for numbers that are not finite or shapes that do not fit.

    Trap: where `k` cuts through ties, `tie_order` says which of them are in, so give the true one.
    """
    requested = None if pool is None else find_distinct(np.asarray(pool, dtype=np.int64))
    most = [len(part) for part in (requested, documents) if isinstance(part, np.ndarray)]
    search = Search(queries, _cut(k, most), distance, Ties(tie_order), device, method)
    size, rows = block_rows or choose_block_rows(device), 0
    if requested is None and isinstance(documents, np.ndarray):
        sample = search.choose_sample(documents)
        if len(sample):
            search.look_at(_read_rows(documents, sample), len(documents))
    for block in _blocks(documents, size):
        search.add(block, requested)
        rows += len(block.rows)
    if search.has_missed():
        for block in _blocks(documents, size):
            search.add(block)
    if tie_order is not None and len(tie_order) != rows:
        raise IndexingError(f"tie_order ranks {len(tie_order)} documents; expected all {rows}")
    if requested is not None:
        _require_rows("the pool", requested, rows)
    return search.take()


def prepare_documents(
    documents: Vectors, distance: Distance = "cosine", tie_order: TieRanks | None = None, device: str = "cpu"
) -> Prepared:
    """Documents (n, d) that `search_prepared` searches again and again, in memory.

    They are checked and packed once: d bytes a document beside the vectors themselves, which are not copied.
    Raises `IndexingError` as `search_exact` does.
    """
    if tie_order is not None and len(tie_order) != len(documents):
        raise IndexingError(f"tie_order ranks {len(tie_order)} documents; expected all {len(documents)}")
    return prepare(documents, distance, tie_order, device)


def search_prepared(
    queries: Vectors, prepared: Prepared, k: int, device: str = "cpu"
) -> tuple[Rows, Vectors]:
    """What `search_exact` gives for these documents, their distance and order of equals, to the bit."""
    count = len(prepared.ranks)
    search = Search(queries, _cut(k, [count]), prepared.distance, prepared.ties, device, "auto")
    search.add_prepared(prepared)
    return search.take()


def search_nested(
    queries: Vectors,
    documents: Vectors,
    pools: Sequence[Rows],
    k: int,
    distance: Distance = "cosine",
    tie_order: TieRanks | None = None,
    device: str = "cpu",
    block_rows: int | None = None,
    *,
    method: Pass | Literal["auto"] = "auto",
) -> Iterator[tuple[Rows, Vectors]]:
    """For each pool, the `k` best documents of each query, as `search_exact` gives them for that `pool`.

    One pass over the largest: the documents that a pool has and the one before has not join those searched.
    `documents` is a matrix (n, d), which may lie in a file; `pools` are rows of it, each once, and each pool
    holds all rows of the one before. Yields rows (q, min(k, pool)) int64 and scores of that shape, best
    first. `tie_order` is of all n. Raises `IndexingError` for pools that are not nested, and as
    `search_exact` does.
    """
    most = len(pools[-1]) if len(pools) else 0
    search = Search(queries, _cut(k, [most]), distance, Ties(tie_order), device, method)
    step = block_rows or choose_block_rows(device)
    for added in _differences(pools, len(documents)):
        for start in range(0, len(added), step):
            rows = added[start : start + step]
            search.add(Block(rows, documents[rows]))
            _release_pages(documents)
        yield search.take()


def score_pools(
    queries: Vectors,
    documents: Vectors,
    pools: Sequence[Rows],
    distance: Distance = "cosine",
    tie_order: TieRanks | None = None,
) -> Iterator[tuple[Rows, Vectors]]:
    """Each query's pool in rank order, in the queries' order: rows of `documents`, and their exact scores.

    `queries` is (q, d), and `pools` has one pool of rows, each once, for each query. Scores and order are
    those of `search_exact`, to the bit. Torch's number of threads score the pools, and of `documents`, which
    may be memory-mapped, only their rows are read.

    Raises `IndexingError` for rows that are not there, vectors that are not finite, and shapes that do not
    fit.
    """
    require_distance(distance)
    checked = check_vectors(queries, "query")
    if len(pools) != len(queries):
        raise IndexingError(f"there are {len(pools)} pools for {len(queries)} queries; expected one for each")
    values = make_matrix(documents, "document")
    pooled = CheckedVectors(values, np.full(len(values), np.nan))
    require_width(checked, pooled)
    threads = count_threads() if len(pools) > 1 else 1
    pairs = max(1, sum(map(len, pools)))
    together = max(1, min(PAIRS_A_TASK * len(pools) // pairs, len(pools) // (4 * threads)))

    def rank_some(first: int) -> list[tuple[Rows, Vectors]]:
        some = pools[first : first + together]
        sizes, rows = [len(pool) for pool in some], np.concatenate(some)
        _require_rows(f"one of the pools {first} to {first + len(some) - 1}", rows, len(values))
        measure_rows(pooled, rows)
        query = np.repeat(np.arange(first, first + len(some)), sizes)
        scores = np.split(score_rows(checked, pooled, query, rows, distance), np.cumsum(sizes)[:-1])
        return [_order(pool, own, tie_order) for pool, own in zip(some, scores, strict=True)]

    with ThreadPoolExecutor(threads) as workers:
        # A few at a time, so that memory holds the results of no more.
        step = 4 * threads * together
        for start in range(0, len(pools), step):
            firsts = range(start, min(start + step, len(pools)), together)
            for ranked in workers.map(rank_some, firsts):
                yield from ranked


def _order(pool: Rows, scores: Vectors, tie_order: TieRanks | None) -> tuple[Rows, Vectors]:
    order = order_best(scores, pool if tie_order is None else tie_order[pool], pool)
    return pool[order], scores[order]


def choose_block_rows(device: str) -> int:
    """How many documents are searched at once there."""
    return DEVICE_BLOCK_ROWS if is_accelerator(device) else BLOCK_ROWS


def _cut(k: int, most: Sequence[int]) -> int:
    """A `k` that no more documents than there are can fill is cut to them, so that heaps are no longer."""
    return k if k < 1 else max(1, min([k, *most]))


def _require_rows(pool: str, rows: Rows, count: int) -> None:
    if len(rows) and not 0 <= rows.min() <= rows.max() < count:
        raise IndexingError(f"{pool} names rows {rows.min()} to {rows.max()}; expected 0 to {count - 1}")


def _blocks(documents: Vectors | Iterable[Vectors | Block], block_rows: int) -> Iterator[Block]:
    first = 0
    for part in [documents] if isinstance(documents, np.ndarray) else documents:
        rows, vectors = part if isinstance(part, Block) else (np.arange(first, first + len(part)), part)
        first += len(vectors)
        for start in range(0, len(vectors), block_rows):
            chosen = slice(start, start + block_rows)
            yield Block(rows[chosen], vectors[chosen])
            _release_pages(vectors)


def _read_rows(vectors: Vectors, rows: Rows) -> Vectors:
    """Rows that lie apart; of a file more is read around each, and let go every now and then."""
    found = np.empty((len(rows), vectors.shape[1]), dtype=np.float32)
    for start in range(0, len(rows), ROWS_APART):
        part = slice(start, start + ROWS_APART)
        found[part] = vectors[rows[part]]
        _release_pages(vectors)
    return found


def _release_pages(vectors: Vectors) -> None:
    """Drop what was read of a file: pages count as resident until then; the file keeps them."""
    if isinstance(vectors, np.memmap) and vectors.mode == "r":
        vectors._mmap.madvise(mmap.MADV_DONTNEED)  # type: ignore[attr-defined]


def _differences(pools: Sequence[Rows], count: int) -> Iterator[Rows]:
    """The rows that each pool adds to the one before, ascending."""
    seen = np.zeros(count, dtype=bool)
    total = 0
    for number, pool in enumerate(pools):
        rows = find_distinct(np.asarray(pool, dtype=np.int64))
        _require_rows(f"pool {number}", rows, count)
        if int(seen[rows].sum()) != total:
            raise IndexingError(f"pool {number} lacks rows of the pool before it; expected nested pools")
        yield rows[~seen[rows]]
        seen[rows] = True
        total = len(rows)
