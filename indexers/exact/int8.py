"""The quantised pass: 8-bit products find every document that could belong among a query's best.

Let p be a query's direction (length 1, or 0) and z a document's vector less the mean of the first block (of
unit vectors for the cosine). Both are rounded to whole multiples of a step, p' and z'. Then

    |p.z - p'.z'| = |p.(z - z') + (p - p').z'| <= |z - z'| + |p - p'| |z'|

by Cauchy and Schwarz. Each length on the right is computed for each row, so the bound is proven whatever the
data. p'.z' is an exact integer times the two steps: the kernel's sums of 32 products in 16 bits cannot
overflow, since each lane's lengths are kept under 128 and 255, and by the same inequality the sum under
128 * 255 = 32,640. A pair is passed on unless its integer is less than `qa * da + qg * dg - qd * dd`, the
k-th best exact score in these units less the bound, with every float32 rounding on the safe side.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.exact import amx as exact_amx
from pinakes.indexers.exact.kernel import CHUNK, TILE
from pinakes.indexers.exact.panels import Kernel, choose_kernel, decode
from pinakes.indexers.exact.scores import CheckedVectors, Rows, share
from pinakes.indexers.names import Distance
from pinakes.jit import jit

Doubles = NDArray[np.float64]
Singles = NDArray[np.float32]

LARGEST_QUERY, LARGEST_DOCUMENT = 64.0, 127.0
LANE_QUERY, LANE_DOCUMENT = 128.0, 255.0
LANE_ROUNDING: Final = 2.9  # 0.5 * sqrt(32), a lane's share of the roundings, and a little
SMALLEST_STEP: Final = 1e-30
MOST_DIMENSIONS: Final = 1 << 14  # more, and a sum might not be a whole float32 number
SINGLE: Final = 16 * 2.0**-24  # more than the roundings of one term of the threshold
LARGEST_SINGLE: Final = 3e38
QUERIES_AT_ONCE: Final = 384  # whole panels of any kernel, whose bytes stay in the second cache
ROOM: Final = 1 << 11  # records between two looks at the k-th best
FIRST_ROOM: Final = 1 << 8


@dataclass(frozen=True, slots=True)
class Int8Queries:
    """Queries in panels of bytes, and what turns a score into a threshold."""

    kernel: Kernel
    bytes: NDArray[np.int8]
    corrections: NDArray[np.integer]
    steps: Doubles
    scales: Doubles  # the lengths that were divided out
    shifts: Doubles  # p.mean, or for l2 half the square of |query - mean|, over the scale
    worst: float  # the largest |p - p'|
    mean: Doubles
    distance: Distance


@dataclass(frozen=True, slots=True)
class Int8Block:
    """Documents in tiles of bytes, and their terms of the threshold."""

    bytes: NDArray[np.uint8]
    terms: tuple[Singles, Singles, Singles]
    rows: int


def choose_mean(block: CheckedVectors, distance: Distance) -> Doubles:
    """The mean of the block's vectors (of their directions for the cosine), in float64."""
    if distance == "cosine":
        mean: Doubles = block.directions().mean(axis=0)
    else:
        mean = block.values.mean(axis=0, dtype=np.float64)
    return mean


def quantise_queries(
    queries: CheckedVectors, distance: Distance, mean: Doubles, kernel: Kernel | None = None
) -> Int8Queries:
    """Round the queries' directions to at most 64 steps each way, for the fastest kernel or the one given."""
    kernel = kernel or choose_kernel()
    moved = queries.values.astype(np.float64)
    if distance == "l2":
        moved -= mean
    squares = (moved**2).sum(axis=1)
    scales = _divisor(np.sqrt(squares))
    moved /= scales[:, None]
    rows, width = len(moved), _whole(moved.shape[1], CHUNK)
    padded = np.zeros((_whole(rows, kernel.panel), width))
    padded[:rows, : moved.shape[1]] = moved
    lanes = np.sqrt((padded.reshape(len(padded), -1, CHUNK // 4, 2, 2) ** 2).sum(axis=(2, 4)))
    steps = np.maximum(
        np.abs(padded).max(axis=1, initial=0.0) / LARGEST_QUERY,
        lanes.max(axis=(1, 2), initial=0.0) / (LANE_QUERY - LANE_ROUNDING),
    )
    steps = np.where(steps > 0, steps, 1.0)
    whole = np.rint(padded / steps[:, None])
    error = np.sqrt(((padded - whole * steps[:, None]) ** 2).sum(axis=1))
    shifts = squares / (2 * scales) if distance == "l2" else moved @ mean
    return Int8Queries(
        kernel,
        *kernel.pack(whole),
        steps,
        scales,
        shifts,
        float(error.max(initial=0.0)),
        mean,
        distance,
    )


def quantise_block(block: CheckedVectors, queries: Int8Queries) -> Int8Block:
    """Round the documents of a block to at most 127 steps each way."""
    rows, width = len(block.values), _whole(block.values.shape[1], CHUNK)
    # As many tiles as any kernel takes at once; what is beyond the rows is of no document.
    tiles = _whole(-(-rows // TILE), exact_amx.TILES)
    packed = aligned(tiles * TILE * width, np.uint8)
    packed[rows // TILE * TILE * width :] = 128
    terms = (
        aligned(tiles * TILE, np.float32),
        aligned(tiles * TILE, np.float32),
        aligned(tiles * TILE, np.float32),
    )
    cosine = queries.distance == "cosine"
    inverse = 1.0 / _divisor(block.lengths) if cosine else np.ones(rows)
    words = packed.view(np.uint32)
    squares = queries.distance == "l2"

    def work(first: int, stop: int) -> None:
        quantise_rows(block.values, inverse, queries.mean, queries.worst, squares, first, stop, words, *terms)

    share(work, rows, 256, TILE)
    return Int8Block(packed, terms, rows)


def threshold_terms(queries: Int8Queries, lowest: Doubles, part: slice) -> tuple[Singles, Singles, Singles]:
    """qa, qg and qd of the queries of `part`, whose k-th best scores are `lowest`; padded to whole panels."""
    scales, shifts, steps = queries.scales[part], queries.shifts[part], queries.steps[part]
    # The least true value that may still round to the k-th score.
    least = lowest - 2.0**-21 * np.abs(lowest) - 2.0**-140
    wanted = np.where(np.isfinite(lowest), least, 0.0)
    if queries.distance == "l2":
        known = shifts - wanted**2 / (2 * scales)
        doubt = shifts + wanted**2 / (2 * scales)
        squares = 1.0 / scales
    else:
        divided = wanted if queries.distance == "cosine" else wanted / scales
        known, doubt, squares = divided - shifts, np.abs(divided) + np.abs(shifts), np.zeros(len(steps))
    needed = (known - 1e-12 * doubt) / steps
    needed = np.where(np.isfinite(lowest), needed - SINGLE * np.abs(needed), -np.inf)
    terms = (needed, squares / steps * (1 - SINGLE), (1 + SINGLE) / steps)
    padded = [np.zeros(_whole(len(steps), queries.kernel.panel)) for _ in terms]
    for array, term in zip(padded, terms, strict=True):
        array[: len(steps)] = term
    padded[0][len(steps) :] = np.inf
    # Cut down to what float32 holds: a lower threshold lets more through.
    padded[0][: len(steps)] = np.minimum(padded[0][: len(steps)], LARGEST_SINGLE)
    padded[1] = np.minimum(padded[1], LARGEST_SINGLE)
    first, second, third = (array.astype(np.float32) for array in padded)
    return first, second, third


def scan_block(
    queries: Int8Queries,
    block: Int8Block,
    part: slice,
    lowest: Callable[[slice], Doubles],
) -> Iterator[tuple[Rows, Rows]]:
    """Every pair of a query of `part` (which begins a panel) and a document that could matter.

    Queries count from the first of `part`. `lowest` tells the k-th best scores, which may rise between two
    batches of pairs. Trap: the next batch overwrites the last.
    """
    kernel, width = queries.kernel, queries.mean.shape[0]
    chunks, first = _whole(width, CHUNK) // CHUNK, part.start // kernel.panel
    panels, tiles = -(-(part.stop - part.start) // kernel.panel), -(-block.rows // kernel.tile)
    state = np.zeros(3, dtype=np.int64)
    records = aligned(ROOM * kernel.record, np.int32)
    scan, shape = kernel.load(), (kernel.panel, kernel.tile, part.stop - part.start, block.rows)
    room = ROOM * kernel.panel * kernel.tile
    rows = (np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64))
    allowed = FIRST_ROOM
    while state[0] < tiles:
        terms = threshold_terms(queries, lowest(part), part)
        arrays = (queries.bytes[first:], queries.corrections[first:], *terms, *block.terms, records)
        addresses = [array.ctypes.data for array in arrays]
        scan(state.ctypes.data, block.bytes.ctypes.data, *addresses, chunks, panels, tiles, allowed)
        found = decode(records, int(state[2]), *shape, *rows)
        yield rows[0][:found], rows[1][:found]
        # The k-th best rise fast at first, when every record is of many pairs; later looks can be rarer.
        allowed = min(2 * allowed, ROOM)


def aligned(count: int, kind: type[np.generic]) -> NDArray[Any]:
    """Zeros that begin where a vector register's worth of memory does."""
    size = np.dtype(kind).itemsize
    memory = np.zeros(count * size + 64, dtype=np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + count * size].view(kind)


@jit
def quantise_rows(
    values: Singles,
    inverse: Doubles,
    mean: Doubles,
    worst: float,
    squares: bool,
    first: int,
    stop: int,
    packed: NDArray[np.uint32],
    da: Singles,
    dg: Singles,
    dd: Singles,
) -> None:
    """Write the bytes and the threshold's terms of the rows `first` (which begins a tile) to `stop`.

    One loop on purpose: split into separate kernels, it took 1.5 times as long.
    """
    dimensions = len(mean)
    chunks = (dimensions + CHUNK - 1) // CHUNK
    width = chunks * CHUNK
    z, whole = np.zeros(width), np.zeros(width)
    codes = np.zeros(width, dtype=np.uint8)
    words = codes.view(np.uint32)
    most, sums, ints = np.zeros(CHUNK), np.zeros(CHUNK), np.zeros(CHUNK)
    rounding = (dimensions + 64) * 2.0**-50
    size = 0.0
    for i in range(dimensions):
        size += mean[i] * mean[i]
    mean_length = np.sqrt(size)
    for row in range(first, stop):
        vector, factor = values[row], inverse[row]
        for i in range(dimensions):
            z[i] = np.float64(vector[i]) * factor - mean[i]
        most[:] = 0.0
        square = 0.0
        lane = 0.0
        for c in range(chunks):
            part = z[c * CHUNK : (c + 1) * CHUNK]
            for i in range(CHUNK):
                most[i] = max(most[i], abs(part[i]))
                sums[i] = part[i] * part[i]
            half = CHUNK // 2
            while half >= 4:
                for i in range(half):
                    sums[i] = sums[i] + sums[half + i]
                half //= 2
            even, odd = sums[0] + sums[1], sums[2] + sums[3]
            square += even + odd
            lane = max(lane, even, odd)
        largest = 0.0
        for i in range(CHUNK):
            largest = max(largest, most[i])
        step = max(largest / LARGEST_DOCUMENT, np.sqrt(lane) / (LANE_DOCUMENT - LANE_ROUNDING), SMALLEST_STEP)
        per_step = 1.0 / step
        sums[:] = 0.0
        ints[:] = 0.0
        for c in range(chunks):
            for i in range(CHUNK):
                # Adding and taking away 1.5 * 2**52 rounds to a whole number, and vectorises.
                near = (z[c * CHUNK + i] * per_step + 6755399441055744.0) - 6755399441055744.0
                left = z[c * CHUNK + i] - near * step
                whole[c * CHUNK + i] = near
                sums[i] = sums[i] + left * left
                ints[i] = ints[i] + near * near
        for i in range(width):
            codes[i] = np.uint8(np.int32(whole[i]) + 128)
        error, length = 0.0, 0.0
        for i in range(CHUNK):
            error += sums[i]
            length += ints[i]
        size = np.sqrt(square)
        bound = (np.sqrt(error) + worst * step * np.sqrt(length)) * (1 + rounding)
        bound += rounding * (size + mean_length)
        da[row] = 1.0 / step
        dg[row] = square / 2 / step if squares else 0.0
        # 0.01 of a unit of the sum is far below what a rounding of a byte loses.
        dd[row] = bound / step * (1 + 1e-6) + 1e-6
        at = row // TILE * (width // 4) * TILE + row % TILE
        for i in range(width // 4):
            packed[at + i * TILE] = words[i]


def _divisor(lengths: Doubles) -> Doubles:
    return np.where(lengths > 0, lengths, 1.0)


def _whole(count: int, step: int) -> int:
    return -(-count // step) * step
