"""One search's state over the blocks of its documents: what a pass finds is scored, and the best are kept."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import IndexingError, UnknownNameError
from pinakes.indexers.encoder.batches import is_out_of_memory
from pinakes.indexers.encoder.precision import choose_precision
from pinakes.indexers.exact import int8 as exact_int8
from pinakes.indexers.exact import product as exact_product
from pinakes.indexers.exact.best import Best, Ties, keep_between, push
from pinakes.indexers.exact.device import DeviceBest, DeviceBlock, move_block
from pinakes.indexers.exact.kernel import TILE, has_kernel
from pinakes.indexers.exact.scan import (
    Guess,
    Limits,
    choose_groups,
    count_sampled,
    guess_lowest,
    scan_block,
)
from pinakes.indexers.exact.scores import (
    CheckedVectors,
    Rows,
    Vectors,
    check_vectors,
    count_threads,
    make_matrix,
    require_distance,
    require_finite,
    require_width,
    run_in_torch_threads,
    score_rows,
    share,
)
from pinakes.indexers.names import Distance
from pinakes.indexers.order import TieRanks

Pass = Literal["int8", "bf16", "fp16", "tf32", "fp32", "float64"]
"""how candidates are found; `float64` scores every document, which pays for few queries; `tf32` is fast on a
CUDA device alone"""

LARGEST_LENGTH: Final = 1e18  # the square of a length has to stay in float32
FEW_QUERIES: Final = 6  # below, every document is scored in the time that bytes need to be made
FEWEST_SHARED: Final = 16  # queries that are worth a thread, which reads all bytes of the documents
FRAME_ROWS: Final = 1 << 10  # documents, at most, whose mean stands for all
DEVICE_BLOCK_ROWS: Final = 1 << 17  # documents that an accelerator takes at once


class Block(NamedTuple):
    """Documents in any order: their rows (n,), each number from 0 once in all, and vectors (n, d)."""

    rows: Rows
    vectors: Vectors


class Prepared(NamedTuple):
    """Documents that are searched again and again: checked, ranked among equals, and packed.

    Attributes:
        ranks: of each document among equal scores (n,).
        packed: their bytes as `frame` sees them; None where the int8 pass cannot be had.
        moved: they themselves on a device other than the CPU; none where its memory does not hold them.
    """

    documents: CheckedVectors
    distance: Distance
    ties: Ties
    ranks: NDArray[np.uint32]
    frame: exact_int8.Frame | None
    packed: exact_int8.Int8Block | None
    moved: list[DeviceBlock]


def prepare(documents: Vectors, distance: Distance, tie_order: TieRanks | None, device: str) -> Prepared:
    """The documents (n, d), prepared; raises as `Search` does for what it cannot take."""
    require_distance(distance)
    checked = check_vectors(documents, "document")
    exact_product.require_lengths(checked.lengths, distance, LARGEST_LENGTH)
    ties, count = Ties(tie_order), len(checked.values)
    ranks = ties.ranks(np.arange(count))
    if is_accelerator(device):
        return Prepared(checked, distance, ties, ranks, None, None, _move_all(checked.values, ranks, device))
    if not count or not has_int8(checked, device):
        return Prepared(checked, distance, ties, ranks, None, None, [])
    frame = choose_frame(checked, distance)
    return Prepared(checked, distance, ties, ranks, frame, exact_int8.quantise_block(checked, frame), [])


def _move_all(vectors: Vectors, ranks: NDArray[np.uint32], device: str) -> list[DeviceBlock]:
    """The documents on the device; none where its memory does not hold them."""
    try:
        return list(_move_each(vectors, ranks, device))
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
    return []


def _move_each(vectors: Vectors, ranks: NDArray[np.uint32], device: str) -> Iterator[DeviceBlock]:
    for first in range(0, len(vectors), DEVICE_BLOCK_ROWS):
        part = slice(first, first + DEVICE_BLOCK_ROWS)
        yield move_block(vectors[part], ranks[part], device)


def choose_frame(block: CheckedVectors, distance: Distance) -> exact_int8.Frame:
    """What some documents of a block, at even distances, are seen from."""
    step = -(-len(block.values) // FRAME_ROWS) or 1
    return exact_int8.choose_frame(CheckedVectors(block.values[::step], block.lengths[::step]), distance)


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
        ties: Ties,
        device: str,
        method: Pass | Literal["auto"],
    ) -> None:
        require_distance(distance)
        if k < 1:
            raise IndexingError(f"k is {k}; expected at least 1")
        self._queries = check_vectors(queries, "query")
        exact_product.require_lengths(self._queries.lengths, distance, LARGEST_LENGTH)
        self._k, self._distance, self._device, self._ties = k, distance, device, ties
        self._method = choose_pass(method, self._queries, device)
        self._there: DeviceBest | None = None
        if is_accelerator(device) and self._method != "int8" and self._method != "float64":
            self._there = DeviceBest(self._queries, k, distance, self._method, device)
        self._best = Best(0 if self._there else len(queries), k, ties)
        self._quantised: exact_int8.Int8Queries | None = None
        self._guess: Guess | None = None
        self.seen = 0

    def choose_sample(self, documents: Vectors) -> Rows:
        """The rows of a sample for `look_at`, where all of these documents are added then; empty: none."""
        count, width = self._queries.values.shape
        sampled, _ = count_sampled(len(documents), self._k, count, is_packed=False)
        if self._method != "int8" or not sampled or documents.shape != (len(documents), width):
            return np.empty(0, dtype=np.int64)
        tiles = exact_int8.choose_tiles(len(documents), sampled)
        return (tiles[:, None] * TILE + np.arange(TILE)).ravel()

    def look_at(self, sample: Vectors, total: int) -> None:
        """Guess each query's k-th best score of `total` documents by a sample of them, before they are added.

        Where `has_missed` says so, they are added again.
        """
        try:
            block = check_vectors(sample, "document")
            exact_product.require_lengths(block.lengths, self._distance, LARGEST_LENGTH)
        except IndexingError:
            return  # whoever adds that document says which it is
        quantised = self._quantise_queries(block)
        packed = exact_int8.quantise_block(block, quantised.frame)
        _, wanted = count_sampled(total, self._k, len(self._queries.values), is_packed=False)
        self._guess_by(quantised, packed, wanted)

    def has_missed(self) -> bool:
        """Whether a guess was too high, once all documents are added; added again, they are for its query."""
        if self._guess is None:
            return False
        missed = self._best.lowest(slice(0, len(self._queries.values))) < self._guess.scores
        self._guess = self._guess._replace(missed=missed)
        return bool(missed.any())

    def add(self, part: Block, pool: Rows | None = None) -> None:
        """Take in a block, or those documents of it that `pool` names."""
        rows, vectors = part
        if pool is not None:
            chosen = np.isin(rows, pool)
            rows, vectors = rows[chosen], vectors[chosen]
        first = int(rows[0]) if len(rows) else 0
        if self._there is not None:
            self._add_there(self._there, make_matrix(vectors, "document"), rows, first)
            return
        block = check_vectors(vectors, "document", first)
        require_width(self._queries, block)
        exact_product.require_lengths(block.lengths, self._distance, LARGEST_LENGTH)
        ranks = self._ties.ranks(rows)
        if self._guess is None or self._guess.missed is None:
            self.seen += len(rows)
        if not len(rows) or not len(self._queries.values):
            return
        if self._method == "int8":
            quantised = self._quantise_queries(block)
            self._scan(block, ranks, quantised, exact_int8.quantise_block(block, quantised.frame))
        else:
            self._find(block, ranks)

    def add_prepared(self, prepared: Prepared) -> None:
        """Take in documents that were prepared for this distance, with the ties of this search."""
        documents, ranks = prepared.documents, prepared.ranks
        require_width(self._queries, documents)
        self.seen += len(ranks)
        if not len(ranks) or not len(self._queries.values):
            return
        if self._there is not None:
            for block in prepared.moved or _move_each(documents.values, ranks, self._device):
                self._there.add(block)
            return
        if prepared.packed is None or prepared.frame is None:
            self._find(documents, ranks)
        else:
            quantised = exact_int8.quantise_queries(self._queries, prepared.frame)
            count = len(self._queries.values)
            sampled, wanted = count_sampled(len(ranks), self._k, count, is_packed=True)
            if sampled:
                self._guess_by(quantised, exact_int8.take_sample(prepared.packed, sampled), wanted)
            self._scan(documents, ranks, quantised, prepared.packed)
            if self.has_missed():
                self._scan(documents, ranks, quantised, prepared.packed)

    def take(self) -> tuple[Rows, Vectors]:
        """Rows (q, min(k, seen)) and scores of that shape, best first."""
        held = min(self._k, self.seen)
        if self._there is None:
            return self._best.take(held)
        ranks, scores = self._there.take(held)
        return self._ties.rows(ranks), scores

    def _add_there(self, there: DeviceBest, vectors: Vectors, rows: Rows, first: int) -> None:
        """Take in a block on the device."""
        require_width(self._queries, CheckedVectors(vectors, np.empty(0)))
        ranks = self._ties.ranks(rows)
        if not len(rows):
            return
        block = move_block(vectors, ranks, self._device)
        lengths = block.lengths.cpu().numpy()
        require_finite(lengths, "document", first)
        exact_product.require_lengths(lengths, self._distance, LARGEST_LENGTH)
        self.seen += len(rows)
        if len(self._queries.values):
            there.add(block)

    def _quantise_queries(self, block: CheckedVectors) -> exact_int8.Int8Queries:
        """The queries as the first block has them seen."""
        if self._quantised is None:
            frame = choose_frame(block, self._distance)
            self._quantised = exact_int8.quantise_queries(self._queries, frame)
        return self._quantised

    def _guess_by(self, quantised: exact_int8.Int8Queries, sample: exact_int8.Int8Block, wanted: int) -> None:
        scores = np.empty(len(self._queries.values))

        def guess(part: slice) -> None:
            scores[part] = guess_lowest(quantised, sample, part, wanted)

        self._run_by_queries(guess, quantised)
        self._guess = Guess(scores)

    def _scan(
        self,
        block: CheckedVectors,
        ranks: NDArray[np.uint32],
        quantised: exact_int8.Int8Queries,
        packed: exact_int8.Int8Block,
    ) -> None:
        scoring = _Scoring(self._queries, block, self._distance, self._best, ranks)

        def scan(part: slice) -> None:
            def take(query: Rows, document: Rows, limits: Limits | None) -> None:
                scoring.offer(part, query, document, limits)

            scan_block(quantised, packed, part, self._k, self._best.lowest, take, self._guess)

        self._run_by_queries(scan, quantised)

    def _run_by_queries(self, work: Callable[[slice], None], quantised: exact_int8.Int8Queries) -> None:
        """Call `work` for parts of the queries, in threads."""
        count, panel = len(self._queries.values), quantised.frame.kernel.panel
        parts = cut_queries(count, count_threads(), panel, choose_groups().queries)
        if len(parts) == 1:
            work(parts[0])
        else:
            run_in_torch_threads([partial(work, part) for part in parts])

    def _find(self, block: CheckedVectors, ranks: NDArray[np.uint32]) -> None:
        """Without bytes: by scoring every document, or by a product on the device."""
        scoring = _Scoring(self._queries, block, self._distance, self._best, ranks)
        if self._method == "float64":
            share(scoring.offer_all, len(self._queries.values), 1)
            return
        kind = "fp32" if self._method == "int8" else self._method  # what is prepared may have no bytes
        given = (self._k, self._distance, kind, self._device, self._best.lowest)
        exact_product.find_pairs(self._queries, block, *given, scoring.offer_sorted)


class _Scoring:
    """Scores the pairs of a block that a pass found, and keeps the best."""

    def __init__(
        self,
        queries: CheckedVectors,
        block: CheckedVectors,
        distance: Distance,
        best: Best,
        ranks: NDArray[np.uint32],
    ) -> None:
        self._queries, self._block, self._distance = queries, block, distance
        self._best, self._ranks = best, ranks

    def offer(self, part: slice, query: Rows, document: Rows, limits: Limits | None = None) -> None:
        """Pairs of documents with the queries of `part`, which count from its first, with scores in `limits`.

        Heaps of different queries share nothing, so that threads with parts of their own need no lock. Trap:
        with `limits` the pairs are overwritten.
        """
        queries = CheckedVectors(self._queries.values[part], self._queries.lengths[part])
        scores = score_rows(queries, self._block, query, document, self._distance)
        if limits is not None:
            kept = keep_between(query, document, scores, *limits)
            query, document, scores = query[:kept], document[:kept], scores[:kept]
        keys, held = self._best.keys[part], self._best.held[part]
        push(keys, held, query, document, self._ranks, scores.view(np.uint32))

    def offer_all(self, first: int, stop: int) -> None:
        """Every document for the queries `first` to `stop`."""
        everyone = order_streams(len(self._block.values))
        for number in range(first, stop):
            query = np.full_like(everyone, number)
            scores = score_rows(self._queries, self._block, query, everyone, self._distance)
            # Of many documents the heap is offered those alone that could be among the best.
            least = self._best.lowest(slice(number, number + 1))[0]
            if len(scores) > self._best.depth:
                least = max(least, np.partition(scores, -self._best.depth)[-self._best.depth])
            chosen = np.flatnonzero(scores >= least)
            bits = scores[chosen].view(np.uint32)
            push(self._best.keys, self._best.held, query[chosen], everyone[chosen], self._ranks, bits)

    def offer_sorted(self, query: Rows, document: Rows) -> None:
        """Pairs by query, in torch's number of threads."""

        def work(first: int, stop: int) -> None:
            bounds = slice(*np.searchsorted(query, (first, stop)))
            self.offer(slice(first, stop), query[bounds] - first, document[bounds])

        share(work, len(self._queries.values), 64)


def order_streams(count: int) -> Rows:
    """All of so many rows, one of each quarter in turn: four are scored side by side, and memory gives four
    streams sooner than rows that follow each other.

    >>> order_streams(9).tolist()
    [0, 2, 4, 6, 1, 3, 5, 7, 8]
    """
    quarters = np.arange(count // 4 * 4).reshape(4, -1).T.ravel()
    return np.concatenate([quarters, np.arange(len(quarters), count)])


def cut_queries(total: int, threads: int, panel: int, most: int) -> list[slice]:
    """Parts of `most` queries at most that begin with a panel: as many for each thread, and alike.

    A thread takes `FEWEST_SHARED` at least.

    >>> cut_queries(1000, 2, 6, 384)
    [slice(0, 252, None), slice(252, 504, None), slice(504, 756, None), slice(756, 1000, None)]
    """
    threads = max(1, min(threads, total // FEWEST_SHARED))
    count = -(-total // (threads * most)) * threads
    size = -(-total // (count * panel)) * panel
    return [slice(start, min(start + size, total)) for start in range(0, total, size)]


def is_accelerator(device: str) -> bool:
    """Whether a search runs there entirely, and not in the CPU's memory."""
    return device != "cpu"


def has_int8(vectors: CheckedVectors, device: str) -> bool:
    """Whether the int8 pass can be had for such vectors."""
    return device == "cpu" and has_kernel() and vectors.values.shape[1] <= exact_int8.MOST_DIMENSIONS


def choose_pass(requested: Pass | Literal["auto"], queries: CheckedVectors, device: str) -> Pass:
    """The pass that `auto` stands for here, or the one requested; an error if it cannot be had."""
    if requested not in ("auto", *get_args(Pass)):
        raise UnknownNameError("first pass", requested, ["auto", *get_args(Pass)])
    fits = has_int8(queries, device)
    if requested == "int8" and not fits:
        raise IndexingError(
            "the int8 pass needs the CPU, its AVX2 instructions and at most "
            f"{exact_int8.MOST_DIMENSIONS} dimensions; leave the choice to `auto`"
        )
    if requested != "auto":
        return requested
    if device == "cpu" and len(queries.values) < FEW_QUERIES:
        return "float64"
    if fits:
        return "int8"
    if is_accelerator(device):
        return "tf32"
    return "bf16" if choose_precision(device) == "bf16" else "fp32"
