"""The quantised pass: which pairs of a block could belong among a query's best, by their sums of bytes.

Where a query's k-th best is not known yet, the sums of many documents say what it is at least: those of the
first of a block, or of a sample of all documents that a search will see.
"""

import math
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.exact import int8 as exact_int8
from pinakes.indexers.exact.int8 import LARGEST_SINGLE, Doubles, Int8Block, Int8Queries, Singles, Terms
from pinakes.indexers.exact.scores import Rows
from pinakes.jit import jit
from pinakes.machine_code import read_second_cache

ROWS_AT_ONCE: Final = 1 << 12  # documents between two looks at the k-th best
ROWS_LOOKED_AT: Final = 1 << 14  # whose sums say what a k-th best is at least that is not known yet
SUMS_AT_ONCE: Final = 1 << 17  # what stays in a cache until it is compared
ROWS_SCORED: Final = 512  # documents that are compared and scored at once, in a cache
LARGE_CACHE: Final = 2 << 20
LEAST_SAMPLED: Final = ROWS_LOOKED_AT
MOST_SAMPLED: Final = 1 << 16
SAMPLED_OF: Final = 32  # documents, one
FEWEST_GUESSED: Final = 6  # queries that are worth a sample
SUMS_A_SCORE: Final = 64  # of a sample, in the time of an exact score
SCORES_A_READING: Final = 20  # in the time in which a document is read and made bytes
HALVINGS: Final = 16
LANES: Final = 64  # numbers that are compared side by side
FEW_MORE: Final = 32  # parts of `k`

Sums = NDArray[np.int32]
Limits = tuple[Doubles, Doubles]
"""of each query: scores below the first are dropped, and those from the second on"""
TakePairs = Callable[[Rows, Rows, Limits | None], None]


class AtOnce(NamedTuple):
    """How many queries (whole panels of any kernel) are searched together, and by how many documents.

    What more queries find in a document is scored while it is in a cache, and each group of queries reads all
    documents once more.
    """

    queries: int
    rows: int


SMALL_GROUPS: Final = AtOnce(384, ROWS_SCORED)
LARGE_GROUPS: Final = AtOnce(768, 2 * ROWS_SCORED)


def choose_groups() -> AtOnce:
    """The groups for this processor: large ones where a core's second cache has 2 MiB."""
    return LARGE_GROUPS if read_second_cache() >= LARGE_CACHE else SMALL_GROUPS


class Guess(NamedTuple):
    """What the k-th best score of each query (q,) seems to be in all documents, or a little less.

    In a first scan of all of them, scores below it are dropped. Where it was too high, the query is `missed`:
    a second scan then looks for those below it, of such queries alone.
    """

    scores: Doubles
    missed: NDArray[np.bool_] | None = None

    def limit(self, known: Doubles, part: slice) -> tuple[Doubles, Limits]:
        """What the queries of `part` are compared with (infinity: with nothing), and the limits."""
        scores = self.scores[part]
        if self.missed is None:
            return np.maximum(known, scores), (scores, np.full_like(scores, np.inf))
        wanted = np.where(self.missed[part], known, np.inf)
        return wanted, (wanted, scores)


def count_sampled(total: int, k: int, queries: int, is_packed: bool) -> tuple[int, int]:
    """How many of all documents are a sample, and which best of these is the guess; 0: it would not pay.

    It is the place in the sample that the k-th best of all has on average, and four standard deviations more:
    so that a guess too high, which costs a second scan, is one in some ten thousand. A query is spared about
    `k` exact scores for each e-fold of documents; it costs the sums of the sample, which is read and made
    bytes first unless it is packed.

    >>> count_sampled(1_000_000, 500, 1_000, False), count_sampled(100_000, 500, 6, True)
    ((31250, 36), (16384, 123))
    >>> count_sampled(100_000, 500, 100, False), count_sampled(1_000_000, 10, 1_000, True)
    ((0, 0), (0, 0))
    """
    if total < 4 * LEAST_SAMPLED or queries < FEWEST_GUESSED:
        return 0, 0
    sampled = min(max(total // SAMPLED_OF, LEAST_SAMPLED), MOST_SAMPLED)
    spared = k * math.log(total / LEAST_SAMPLED) - sampled / SUMS_A_SCORE
    place = k * sampled / total
    wanted = math.ceil(place + 4 * math.sqrt(place) + 4)
    pays = spared > 0 and queries * spared >= (0 if is_packed else SCORES_A_READING * sampled)
    return (sampled, wanted) if pays and wanted < sampled else (0, 0)


def guess_lowest(queries: Int8Queries, sample: Int8Block, part: slice, wanted: int) -> Doubles:
    """What the `wanted`-th best score of each query of `part` seems to be among the documents of a sample."""
    panel = queries.frame.kernel.panel
    step = max(1, SMALL_GROUPS.queries * ROWS_LOOKED_AT // sample.rows // panel) * panel  # the sums' memory
    guessed = []
    for start in range(part.start, part.stop, step):
        few = slice(start, min(start + step, part.stop))
        sums = exact_int8.multiply(queries, sample, few, 0, sample.rows)
        guessed.append(_find_lowest(queries, sample, few, wanted, sums, 0, sample.rows))
    return np.concatenate(guessed)


def scan_block(
    queries: Int8Queries,
    block: Int8Block,
    part: slice,
    k: int,
    lowest: Callable[[slice], Doubles],
    take: TakePairs,
    guess: Guess | None = None,
) -> None:
    """Give `take` every pair of a query of `part` (which begins a panel) and a document that could matter.

    Queries count from the first of `part`. `lowest` tells the k-th best scores, which may rise with each call
    of `take`. Trap: the next pairs overwrite the last.
    """
    scan = _Scan(queries, block, part, k, lowest, take)
    first = 0
    while first < block.rows:
        known = lowest(part)
        if guess is not None:
            first = scan.compare(first, *guess.limit(known, part))
        elif np.isfinite(known).all() or block.rows - first < k:
            first = scan.compare(first, known)
        else:
            first = scan.guess_and_compare(first, known)


class _Scan:
    """One part of the queries over the documents of a block; `scan_block` has the arguments."""

    def __init__(
        self,
        queries: Int8Queries,
        block: Int8Block,
        part: slice,
        k: int,
        lowest: Callable[[slice], Doubles],
        take: TakePairs,
    ) -> None:
        self._queries, self._block, self._part, self._k = queries, block, part, k
        self._lowest, self._take = lowest, take
        count = part.stop - part.start
        # Of few queries the sums of more documents stay in a cache.
        rows = choose_groups().rows
        self._at_once = max(rows, SUMS_AT_ONCE // count // rows * rows)
        room = count * self._at_once + 8
        self._pairs = (np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64))

    def compare(self, first: int, known: Doubles, limits: Limits | None = None) -> int:
        """Give what could be as good as `known` of some documents from `first` on; where they end."""
        stop: int = min(first + max(ROWS_AT_ONCE, self._at_once), self._block.rows)
        is_done = np.isposinf(known)
        terms = exact_int8.threshold_terms(self._queries, np.where(is_done, -np.inf, known), self._part)
        terms[0][is_done] = np.inf
        for start in range(first, stop, self._at_once):
            end = min(start + self._at_once, stop)
            sums = exact_int8.multiply(self._queries, self._block, self._part, start, end)
            self._give(sums, start, start, end, terms, limits)
        return stop

    def guess_and_compare(self, first: int, known: Doubles) -> int:
        """As `compare`, where the k-th best of a query is not known: it is guessed, and then seen.

        Scores below the guess are dropped. If there are k above it, none of these belongs; else the guess was
        too high, and all is compared again, now by the k-th best of what was kept.
        """
        stop = min(first + max(ROWS_LOOKED_AT, -(-self._k // ROWS_AT_ONCE) * ROWS_AT_ONCE), self._block.rows)
        sums = exact_int8.multiply(self._queries, self._block, self._part, first, stop)
        few_more = min(self._k + self._k // FEW_MORE + 2, stop - first)
        seeming = _find_lowest(self._queries, self._block, self._part, few_more, sums, first, stop)
        wanted = np.where(np.isfinite(known), known, seeming)
        terms = exact_int8.threshold_terms(self._queries, wanted, self._part)
        self._give_all(sums, first, stop, terms, (wanted, np.full_like(wanted, np.inf)))
        known = self._lowest(self._part)
        reached = known >= wanted
        if not reached.all():
            terms = exact_int8.threshold_terms(self._queries, known, self._part)
            terms[0][reached] = np.inf
            self._give_all(sums, first, stop, terms, (np.where(reached, np.inf, known), wanted))
        return stop

    def _give_all(self, sums: Sums, first: int, stop: int, terms: Terms, limits: Limits) -> None:
        for start in range(first, stop, ROWS_SCORED):
            self._give(sums, first, start, min(start + ROWS_SCORED, stop), terms, limits)

    def _give(
        self, sums: Sums, first: int, start: int, stop: int, terms: Terms, limits: Limits | None
    ) -> None:
        """Give what passes `terms` of the documents `start` to `stop`; the sums begin with `first`."""
        ends = self._queries.ends[self._part]
        found = find_pairs(sums, ends, *terms, *self._block.terms, first, start, stop, *self._pairs)
        self._take(self._pairs[0][:found], self._pairs[1][:found], limits)


def _find_lowest(
    queries: Int8Queries, block: Int8Block, part: slice, wanted: int, sums: Sums, first: int, stop: int
) -> Doubles:
    """What the `wanted`-th best score of each query seems to be, or a little less, by documents' sums."""
    scales = exact_int8.square_scales(queries, part)
    seeming = np.empty(len(sums), dtype=np.float32)
    ends, (da, dg, _) = queries.ends[part], block.terms
    find_seeming(sums, ends, scales, da[first:stop], dg[first:stop], wanted, seeming)
    return exact_int8.seeming_scores(queries, seeming, part)


@jit
def find_seeming(
    sums: Sums,
    ends: NDArray[np.int32],
    scales: Singles,
    da: Singles,
    dg: Singles,
    wanted: int,
    found: Singles,
) -> None:
    """Write, for each row of sums, what `wanted` of its documents or a few more reach, in its steps."""
    count = len(da)
    seeming, steps = np.empty(count, dtype=np.float32), np.empty(count, dtype=np.float32)
    lowest = np.float32(-LARGEST_SINGLE)
    lows, highs = np.empty(LANES, dtype=np.float32), np.empty(LANES, dtype=np.float32)
    for i in range(count):
        steps[i] = np.float32(1.0) / da[i]
    for row in range(len(sums)):
        line, end, g = sums[row], ends[row], scales[row]
        for i in range(count):
            value = (np.float32(np.int32(line[i] + end)) - g * dg[i]) * steps[i]
            seeming[i] = value if value > lowest else lowest  # also where it is no number
        # By lanes: one after another the least and the most would take as long as all that follows.
        lows[:], highs[:] = np.float32(LARGEST_SINGLE), lowest
        for start in range(0, count - LANES + 1, LANES):
            few = seeming[start : start + LANES]
            for i in range(LANES):
                lows[i], highs[i] = min(lows[i], few[i]), max(highs[i], few[i])
        for i in range(count // LANES * LANES, count):
            lows[0], highs[0] = min(lows[0], seeming[i]), max(highs[0], seeming[i])
        low, high = lows.min(), highs.max()
        for _ in range(HALVINGS):
            middle = low + (high - low) * np.float32(0.5)
            reached = np.int32(0)
            for i in range(count):
                reached += np.int32(seeming[i] >= middle)
            if reached >= wanted:
                low = middle
                if reached <= wanted + wanted // FEW_MORE:
                    break
            else:
                high = middle
        found[row] = low


@jit
def find_pairs(
    sums: Sums,
    ends: NDArray[np.int32],
    qa: Singles,
    qg: Singles,
    qd: Singles,
    da: Singles,
    dg: Singles,
    dd: Singles,
    first: int,
    start: int,
    stop: int,
    query: Rows,
    document: Rows,
) -> int:
    """Write the pairs with documents `start` to `stop` that could matter, and how many; column 0 is `first`.

    A pair is kept unless its sum < qa * da + qg * dg - qd * dd, in float32: also where that is no number.
    """
    found, count = 0, stop - start
    steps, square, bound = da[start:stop], dg[start:stop], dd[start:stop]
    # Which pairs are kept is asked of eight at once: mostly none is.
    kept = np.zeros(-(-count // 8) * 8, dtype=np.uint8)
    eights = kept.view(np.uint64)
    for row in range(len(sums)):
        end, a, g, d = ends[row], qa[row], qg[row], qd[row]
        line = sums[row, start - first : stop - first]
        for i in range(count):
            least = a * steps[i] + g * square[i] - d * bound[i]
            kept[i] = not np.float32(np.int32(line[i] + end)) < least
        for eight in range(len(eights)):
            if eights[eight]:
                for i in range(8 * eight, 8 * eight + 8):
                    query[found], document[found] = row, start + i
                    found += kept[i]
    return found
