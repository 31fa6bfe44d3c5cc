"""The quantised pass: which pairs of a block could belong among a query's best, by their sums of bytes.

Where a query's k-th best is not known yet, the sums of the whole block say what the k-th best is at least.
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
ROWS_AT_ONCE: Final = 1 << 12  # documents between two looks at the k-th best, for many queries
ROWS_LOOKED_AT: Final = 1 << 14  # whose sums say what a k-th best is at least that is not known yet
SUMS_AT_ONCE: Final = 1 << 21  # for few queries, whose sums of more documents stay in a cache
ROWS_SCORED: Final = 1 << 10  # documents whose vectors stay in a cache while they are scored
LOOKED_AT: Final = 32  # sums that are compared before it is asked whether one of them is large
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
    room = count * ROWS_SCORED
    pairs = (np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64))
    looked_at = max(ROWS_LOOKED_AT, -(-k // ROWS_AT_ONCE) * ROWS_AT_ONCE)
    at_once = max(ROWS_AT_ONCE, SUMS_AT_ONCE // (count * ROWS_AT_ONCE) * ROWS_AT_ONCE)
    first = 0
    while first < block.rows:
        known = lowest(part)
        look = not np.isfinite(known).all() and block.rows - first >= k
        stop = min(first + (looked_at if look else at_once), block.rows)
        sums = exact_int8.multiply(queries, block, part, first, stop)
        if look:
            known = np.fmax(known, find_known_floors(queries, block, part, k, slice(first, stop), sums))
        given = (queries.ends[part], *exact_int8.threshold_terms(queries, known, part))
        for start in range(first, stop, ROWS_SCORED):
            end = min(start + ROWS_SCORED, stop)
            found = find_pairs(sums, *given, *block.terms, first, start, end, *pairs)
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
            exact = np.float32(line[i] + end)
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
    found = 0
    for row in range(len(sums)):
        end, a, g, d = ends[row], qa[row], qg[row], qd[row]
        for left in range(start, stop, LOOKED_AT):
            line = sums[row, left - first : left - first + LOOKED_AT]
            terms = da[left : left + LOOKED_AT], dg[left : left + LOOKED_AT], dd[left : left + LOOKED_AT]
            small = np.int32(0)
            for i in range(LOOKED_AT):
                least = a * terms[0][i] + g * terms[1][i] - d * terms[2][i]
                small += np.int32(np.float32(line[i] + end) < least)
            if small == LOOKED_AT:
                continue
            for i in range(min(LOOKED_AT, stop - left)):
                least = a * terms[0][i] + g * terms[1][i] - d * terms[2][i]
                if not np.float32(line[i] + end) < least:
                    query[found], document[found] = row, left + i
                    found += 1
    return found
