"""Queries against blocks: every query meets a block while its postings are in the cache.

Each thread takes the next block, works out what a term adds to each document's score for this k1 and b, and
keeps the best of every query in a buffer of its own; the buffers are merged by a total order, so that no
thread shows through.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.lexical import Ids, Scores
from pinakes.indexers.sparse_bm25.files import Postings
from pinakes.indexers.sparse_bm25.kernels import prepare_block, score_pairs, search_block, sort_by_block
from pinakes.indexers.sparse_bm25.queries import QueryTerms

SPARE_KEYS: Final = 1024
KEY_BYTES_AT_ONCE: Final = 1 << 28  # of one thread
LOW_BITS: Final = 0xFFFFFFFF


class Tuning(NamedTuple):
    """The two numbers of BM25: how soon a repeated term stops counting, and how much length matters."""

    k1: float = 1.2
    b: float = 0.75


def find_best(
    postings: Postings,
    terms: QueryTerms,
    k: int,
    tuning: Tuning,
    ranks: NDArray[np.uint32],
    pool: NDArray[np.bool_] | None,
    threads: int,
) -> list[tuple[NDArray[np.uint32], Scores]]:
    """The best `k` of each query as tie ranks and scores, best first.

    `ranks` (n,) are the distinct ranks of the documents among equal scores. Without a `pool` (n,) only
    documents that share a term are found; with one exactly its documents, those that share none with score 0.
    """
    room = k + max(k, SPARE_KEYS)
    step = max(1, KEY_BYTES_AT_ONCE // (8 * room))
    found: list[tuple[NDArray[np.uint32], Scores]] = []
    query_count = len(terms.dense_ends) - 1
    for start in range(0, query_count, step):
        part = slice(start, min(start + step, query_count))
        work = partial(_search, postings, terms, part, k, room, tuning, ranks, pool)
        parts = _in_threads(work, len(postings.block_runs) - 1, threads)
        for position in range(part.stop - part.start):
            keys = np.concatenate([keys[position, : sizes[position]] for keys, sizes in parts])
            best = np.sort(np.partition(keys, len(keys) - k)[-k:] if len(keys) > k else keys)[::-1]
            bits, low = (best >> 32).astype(np.int32), (best & LOW_BITS)
            found.append(((LOW_BITS - low).astype(np.uint32), bits.view(np.float32)))
    return found


T = TypeVar("T")
Take = Callable[[], int | None]
"""gives the next block, None when there is none left"""


def _in_threads(work: Callable[[Take], T], blocks: int, threads: int) -> list[T]:
    numbers, lock = iter(range(blocks)), threading.Lock()

    def take() -> int | None:
        with lock:
            return next(numbers, None)

    if threads <= 1:
        return [work(take)]
    with ThreadPoolExecutor(threads) as pool:
        return [job.result() for job in [pool.submit(work, take) for _ in range(threads)]]


def _search(
    postings: Postings,
    terms: QueryTerms,
    part: slice,
    k: int,
    room: int,
    tuning: Tuning,
    ranks: NDArray[np.uint32],
    pool: NDArray[np.bool_] | None,
    take: Take,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """One thread's share: the keys of each query of the part, and how many they are."""
    count = part.stop - part.start
    keys = np.empty((count, room), np.int64)
    sizes = np.zeros(count, np.int64)
    # A score of 0 is wanted in a pool alone; the floor itself is never kept.
    floors = np.full(count, LOW_BITS if pool is None else -1, np.int64)
    prepared = PreparedBlocks(postings, terms, tuning)
    ends = slice(part.start, part.stop + 1)
    while (number := take()) is not None:
        first, stop = prepared.document_range(number)
        excluded = np.empty(0, np.uint32)
        if pool is not None:
            excluded = np.flatnonzero(~pool[first:stop]).astype(np.uint32)
            if len(excluded) == stop - first:
                continue
        prepared.prepare(number)
        search_block(
            terms.dense_ends[ends],
            terms.dense,
            terms.dense_factors,
            terms.sparse_ends[ends],
            terms.sparse,
            terms.sparse_factors,
            prepared.rows,
            prepared.spans,
            prepared.impacts,
            prepared.impacts.view(np.uint32),
            prepared.visits,
            excluded,
            ranks[first:stop],
            prepared.scores,
            prepared.scores.view(np.int32),
            keys,
            sizes,
            floors,
            k,
        )
    return keys, sizes


def score_rows(
    postings: Postings,
    terms: QueryTerms,
    documents: Ids,
    sizes: Sequence[int],
    tuning: Tuning,
    threads: int,
) -> list[Scores]:
    """Each query's scores of the documents (rows) of its own pool, in their order.

    `documents` has pool after pool, of so many each (`sizes`).
    """
    queries = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    order, found = np.empty(len(documents), np.int64), np.empty(len(documents), np.float32)
    starts = np.zeros(len(postings.block_runs), np.int64)
    sort_by_block(documents, postings.block_rows, starts, order)

    def work(take: Take) -> None:
        prepared = PreparedBlocks(postings, terms, tuning)
        while (number := take()) is not None:
            if starts[number] < starts[number + 1]:
                prepared.prepare(number)
                held = order[starts[number] : starts[number + 1]]
                prepared.score(held, queries, documents, number * postings.block_rows, found)

    _in_threads(work, len(postings.block_runs) - 1, threads)
    return np.split(found, np.cumsum(sizes)[:-1])


class PreparedBlocks:
    """What one thread works in: the impacts of one block after the other."""

    def __init__(self, postings: Postings, terms: QueryTerms, tuning: Tuning) -> None:
        self._postings, self._terms, self._tuning = postings, terms, tuning
        self._weights = terms.weights * (tuning.k1 + 1.0)
        self._norms = np.empty(postings.block_rows, np.float64)
        self._all_rows = np.empty((max(1, terms.row_count), postings.block_rows), np.float32)
        self._all_scores = np.empty(postings.block_rows, np.float32)
        self.spans = np.empty((terms.span_count, 2), np.int32)
        self.impacts = np.empty((int(np.diff(postings.block_postings).max(initial=0)), 2), np.float32)
        most = int(np.diff(terms.sparse_ends).max(initial=0))
        self.visits = np.empty((most + 1, 3), np.int64)
        self.rows, self.scores = self._all_rows, self._all_scores

    def document_range(self, block: int) -> tuple[int, int]:
        """The first document of a block, and the first after it."""
        first = block * self._postings.block_rows
        return first, min(first + self._postings.block_rows, len(self._postings.lengths))

    def prepare(self, block: int) -> None:
        """Work out the impacts of the block's postings."""
        postings = self._postings
        runs = slice(*postings.block_runs[block : block + 2].tolist())
        held = slice(*postings.block_postings[block : block + 2].tolist())
        first, stop = self.document_range(block)
        # The last block has fewer documents; its rows are the beginnings of the others'.
        self.rows, self.scores = self._all_rows[:, : stop - first], self._all_scores[: stop - first]
        prepare_block(
            postings.run_terms[runs],
            postings.run_starts[runs],
            postings.documents[held],
            postings.counts[held],
            postings.lengths[first:stop],
            self._terms.terms,
            self._terms.slots,
            self._weights,
            self._tuning.k1,
            self._tuning.b,
            self._terms.average_length,
            self.rows,
            self.spans,
            self.impacts,
            self.impacts.view(np.uint32),
            self._norms,
        )

    def score(
        self,
        order: NDArray[np.int64],
        queries: NDArray[np.int32],
        documents: Ids,
        first: int,
        found: Scores,
    ) -> None:
        """The scores of pairs of a query and a document of the block, which begins with `first`."""
        terms = self._terms
        score_pairs(
            order,
            queries,
            documents,
            first,
            terms.dense_ends,
            terms.dense,
            terms.dense_factors,
            terms.sparse_ends,
            terms.sparse,
            terms.sparse_factors,
            self.rows,
            self.spans,
            self.impacts,
            self.impacts.view(np.uint32),
            self.visits,
            self.scores,
            found,
        )
