"""The quantised pass: which pairs of a block could belong among a query's best, by their sums of bytes.

Where a query's k-th best is not known yet, the sums of many documents say what it is at least.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.exact import int8 as exact_int8
from pinakes.indexers.exact.int8 import LARGEST_SINGLE, SINGLE, Doubles, Int8Block, Int8Queries, Singles
from pinakes.indexers.exact.scores import Rows
from pinakes.jit import jit

QUERIES_AT_ONCE: Final = 384  # whole panels of any kernel, whose bytes stay in the second cache
ROWS_AT_ONCE: Final = 1 << 12  # documents between two looks at the k-th best
ROWS_LOOKED_AT: Final = 1 << 14  # whose sums say what a k-th best is at least that is not known yet
SUMS_AT_ONCE: Final = 1 << 17  # what stays in a cache until it is compared
ROWS_SCORED: Final = 512  # documents that are multiplied, compared and scored at once, in a cache
HALVINGS: Final = 16

TakePairs = Callable[[Rows, Rows], None]


def scan_block(
    queries: Int8Queries,
    block: Int8Block,
    part: slice,
    k: int,
    lowest: Callable[[slice], Doubles],
    take: TakePairs,
) -> None:
    """Give `take` every pair of a query of `part` (which begins a panel) and a document that could matter.

    Queries count from the first of `part`, and are ascending. `lowest` tells the k-th best scores, which may
    rise with each call of `take`. Trap: the next pairs overwrite the last.
    """
    count = part.stop - part.start
    # Of few queries the sums of more documents stay in a cache.
    at_once = max(ROWS_SCORED, SUMS_AT_ONCE // count // ROWS_SCORED * ROWS_SCORED)
    room = count * at_once + 8
    pairs = (np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64))
    looked_at = max(ROWS_LOOKED_AT, -(-k // ROWS_AT_ONCE) * ROWS_AT_ONCE)
    first = 0
    while first < block.rows:
        known = lowest(part)
        look = not np.isfinite(known).all() and block.rows - first >= k
        stop = min(first + (looked_at if look else max(ROWS_AT_ONCE, at_once)), block.rows)
        sums, begin = np.empty((0, 0), dtype=np.int32), first
        if look:
            sums = exact_int8.multiply(queries, block, part, first, stop)
            known = np.fmax(known, find_known_floors(queries, block, part, k, slice(first, stop), sums))
        given = (queries.ends[part], *exact_int8.threshold_terms(queries, known, part), *block.terms)
        for start in range(first, stop, at_once):
            end = min(start + at_once, stop)
            if not look:
                sums, begin = exact_int8.multiply(queries, block, part, start, end), start
            found = find_pairs(sums, *given, begin, start, end, *pairs)
            take(pairs[0][:found], pairs[1][:found])
        first = stop


def find_known_floors(
    queries: Int8Queries, block: Int8Block, part: slice, k: int, rows: slice, sums: NDArray[np.int32]
) -> Doubles:
    """What the k-th best score of each query is at least, as the documents of `rows`, with `sums`, say."""
    floors = np.empty(len(sums), dtype=np.float32)
    terms = exact_int8.certain_terms(queries, part)
    find_floors(sums, queries.ends[part], *terms, *block.terms, rows.start, rows.stop, k, floors)
    return exact_int8.certain_scores(queries, floors, part)


@jit
def find_floors(
    sums: NDArray[np.int32],
    ends: NDArray[np.int32],
    qg: Singles,
    qd: Singles,
    lost: Singles,
    da: Singles,
    dg: Singles,
    dd: Singles,
    first: int,
    stop: int,
    k: int,
    floors: Singles,
) -> None:
    """Write, for each row of sums, what k or more of its documents surely reach (`certain_terms`)."""
    count = stop - first
    sure, steps = np.empty(count, dtype=np.float32), np.empty(count, dtype=np.float32)
    rounded, least = np.float32(SINGLE), np.float32(-LARGEST_SINGLE)
    for i in range(count):
        steps[i] = np.float32(1.0) / da[first + i]
    square, bound = dg[first:stop], dd[first:stop]
    for row in range(len(sums)):
        line, end, g, d, loss = sums[row], ends[row], qg[row], qd[row], lost[row]
        low, high = np.float32(3e38), np.float32(-3e38)
        for i in range(count):
            exact = np.float32(np.int32(line[i] + end))
            value = (exact - rounded * abs(exact) - g * square[i] - d * bound[i]) * steps[i] - loss
            sure[i] = value if value > least else least  # also where it is no number
        for i in range(count):
            low, high = min(low, sure[i]), max(high, sure[i])
        for _ in range(HALVINGS):
            middle = low + (high - low) * np.float32(0.5)
            reached = np.int32(0)
            for i in range(count):
                reached += np.int32(sure[i] >= middle)
            if reached >= k:
                low = middle
                if reached <= k + k // 64:
                    break
            else:
                high = middle
        floors[row] = low


@jit
def find_pairs(
    sums: NDArray[np.int32],
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
