"""Vectors in bytes, and the bounds on what that loses: what the quantised pass multiplies.

Let p be a query's direction (length 1, or 0) and z a document's vector less a mean (of some of the first
block, of unit vectors for the cosine). Both are rounded to whole multiples of a step, p' and z'. Then

    |p.z - p'.z'| = |p'.(z - z') + (p - p').z| <= (1 + e) |z - z'| + e |z|,    e = |p - p'|

by Cauchy and Schwarz, and e |z| <= e (M + |z|^2 / M) / 2 for any M > 0 (here the usual length). Each length
is computed for each row, so the bound is proven whatever the data, and a block is packed without the queries.
p'.z' is an exact integer times the two steps. A sum of 32 products in 16 bits (`kernel`) cannot overflow:
each lane's lengths are kept under 128 and 255, and by the same inequality the sum under 128 * 255 = 32,640.
A sum in 32 bits is a whole float32 number, since a query's length is kept under 2,840 and a document's is
under 5,771. A pair is passed on unless its integer is less than `qa * da + qg * dg - qd * dd`, the k-th best
exact score in these units less the bound, with every float32 rounding on the safe side.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.exact import amx as exact_amx
from pinakes.indexers.exact.kernel import CHUNK, TILE
from pinakes.indexers.exact.panels import Kernel, choose_kernel
from pinakes.indexers.exact.rounding import has_rounding_kernel, load_rounding_kernel
from pinakes.indexers.exact.scores import CheckedVectors, share
from pinakes.indexers.names import Distance
from pinakes.jit import jit
from pinakes.machine_code import aligned

Doubles = NDArray[np.float64]
Singles = NDArray[np.float32]
Terms = tuple[Singles, Singles, Singles]

LARGEST_DOCUMENT, LANE_DOCUMENT = 127.0, 255.0
LONGEST_QUERY: Final = 2840.0 - 64.0  # less what 2**14 roundings add to a length
LANE_ROUNDING: Final = 2.9  # 0.5 * sqrt(32), a lane's share of the roundings, and a little
SMALLEST_STEP: Final = 1e-30
ROUNDING: Final = 2.0**-50  # the part of a length that float64 may lose with each number that is added up
ADDITIONS: Final = 64  # beside those of the dimensions
BOUND_ROOM: Final = 1e-6  # of a bound in steps, far below what a rounding of a byte loses
FEWEST_ROUNDED: Final = 64  # queries that are worth a thread
MOST_DIMENSIONS: Final = 1 << 14  # more, and a sum might not be a whole float32 number
SINGLE: Final = 16 * 2.0**-24  # more than the roundings of one term of the threshold
LARGEST_SINGLE: Final = 3e38


@dataclass(frozen=True, slots=True)
class Frame:
    """What queries and documents are seen from: the mean that documents lose, and their usual length."""

    mean: Doubles
    size: float
    distance: Distance
    kernel: Kernel


@dataclass(frozen=True, slots=True)
class Int8Queries:
    """Queries as whole numbers, and what turns a score into a threshold."""

    frame: Frame
    packed: Any
    ends: NDArray[np.int32]
    steps: Doubles
    scales: Doubles  # the lengths that were divided out
    shifts: Doubles  # p.mean, or for l2 half the square of |query - mean|, over the scale
    errors: Doubles  # |p - p'|


@dataclass(frozen=True, slots=True)
class Int8Block:
    """Documents in bytes, and their terms of the threshold: da, dg and dd."""

    bytes: NDArray[np.uint8]
    terms: tuple[Singles, Singles, Singles]
    rows: int


def choose_frame(block: CheckedVectors, distance: Distance, kernel: Kernel | None = None) -> Frame:
    """The mean of the vectors (of their directions for the cosine), and the root of their mean square.

    It is one for the fastest kernel, or the one given.
    """
    vectors = block.directions() if distance == "cosine" else block.values
    mean: Doubles = vectors.mean(axis=0, dtype=np.float64)
    lengths = block.lengths > 0 if distance == "cosine" else block.lengths
    square = float(np.mean(lengths.astype(np.float64) ** 2)) - float(mean @ mean)
    return Frame(mean, float(np.sqrt(max(square, 1e-30))), distance, kernel or choose_kernel())


def quantise_queries(queries: CheckedVectors, frame: Frame) -> Int8Queries:
    """Round the queries' directions to as many steps each way as the kernel takes."""
    kernel = frame.kernel
    rows, width = len(queries.values), _whole(queries.values.shape[1], CHUNK)
    whole = np.zeros((_whole(rows, kernel.panel), width), dtype=np.int8)
    columns = steps, scales, shifts, errors = [np.ones(rows) for _ in range(4)]
    limits = (kernel.largest, kernel.lane - LANE_ROUNDING)
    given = (queries.values, frame.mean, frame.distance == "l2", *limits)

    def work(first: int, stop: int) -> None:
        round_queries(*given, first, stop, whole, *columns)

    share(work, rows, FEWEST_ROUNDED)
    return Int8Queries(frame, kernel.pack(whole), kernel.ends(whole), steps, scales, shifts, errors)


def quantise_block(block: CheckedVectors, frame: Frame) -> Int8Block:
    """Round the documents of a block to at most 127 steps each way."""
    rows, width = len(block.values), _whole(block.values.shape[1], CHUNK)
    # As many tiles as any kernel takes at once; what is beyond the rows is of no document.
    tiles = _whole(-(-rows // TILE), exact_amx.TILES)
    packed = aligned(tiles * TILE * width, np.uint8)
    interleaved, offset = frame.kernel.interleaved, frame.kernel.offset
    packed[rows // TILE * TILE * width :] = offset
    terms = (
        aligned(tiles * TILE, np.float32),
        aligned(tiles * TILE, np.float32),
        aligned(tiles * TILE, np.float32),
    )
    cosine = frame.distance == "cosine"
    inverse = 1.0 / np.where(block.lengths > 0, block.lengths, 1.0) if cosine else np.ones(rows)
    given = (block.values, inverse, frame.mean, packed.view(np.uint32), *terms)
    if not has_rounding_kernel(block.values.shape[1]):
        share(lambda first, stop: round_documents(*given, interleaved, offset, first, stop), rows, 256, TILE)
        return Int8Block(packed, terms, rows)
    kernel = load_rounding_kernel(width, interleaved, offset)
    addresses = [array.ctypes.data for array in given]
    limits = (LARGEST_DOCUMENT, LANE_DOCUMENT - LANE_ROUNDING, SMALLEST_STEP)
    roundings = ((width + ADDITIONS) * ROUNDING, float(np.sqrt(frame.mean @ frame.mean)), BOUND_ROOM)

    def work(first: int, stop: int) -> None:
        held = aligned(width, np.float64)
        kernel(*addresses, held.ctypes.data, first, stop, *limits, *roundings)

    share(work, rows, 256, TILE)
    return Int8Block(packed, terms, rows)


def choose_tiles(rows: int, count: int) -> NDArray[np.intp]:
    """Tiles at even distances, which hold about `count` of so many documents: as many as any kernel takes."""
    tiles = count // TILE // exact_amx.TILES * exact_amx.TILES
    return np.arange(tiles) * (rows // TILE) // tiles


def take_sample(block: Int8Block, count: int) -> Int8Block:
    """About `count` documents of a block."""
    chosen = choose_tiles(block.rows, count)
    packed = aligned(len(chosen) * TILE * (len(block.bytes) // len(block.terms[0])), np.uint8)
    np.take(block.bytes.reshape(-1, len(packed) // len(chosen)), chosen, 0, packed.reshape(len(chosen), -1))
    da, dg, dd = (term.reshape(-1, TILE)[chosen].ravel() for term in block.terms)
    return Int8Block(packed, (da, dg, dd), len(chosen) * TILE)


def threshold_terms(queries: Int8Queries, lowest: Doubles, part: slice) -> Terms:
    """qa, qg and qd of the queries of `part`, whose k-th best scores are `lowest`."""
    scales, shifts, steps = queries.scales[part], queries.shifts[part], queries.steps[part]
    # The least true value that may still round to the k-th score.
    least = lowest - 2.0**-21 * np.abs(lowest) - 2.0**-140
    known = np.isfinite(lowest)
    wanted = np.where(known, least, 0.0)
    squared = queries.frame.distance == "l2"
    if squared:
        needed, doubt = shifts - wanted**2 / (2 * scales), shifts + wanted**2 / (2 * scales)
    else:
        divided = wanted if queries.frame.distance == "cosine" else wanted / scales
        needed, doubt = divided - shifts, np.abs(divided) + np.abs(shifts)
    qg, lost, qd = _bounds(queries, part)
    needed = (needed - 1e-12 * doubt) / steps
    qa = np.where(known, needed - SINGLE * np.abs(needed) - lost, -np.inf)
    squares = (1 - SINGLE) / (scales * steps) if squared else 0.0
    # Cut down to what float32 holds: a lower threshold lets more through.
    qa, qg = np.minimum(qa, LARGEST_SINGLE), np.minimum(squares - qg, LARGEST_SINGLE)
    return _singles(qa, qg, qd)


def square_scales(queries: Int8Queries, part: slice) -> Singles:
    """By what half a document's square lessens its sums: for l2 alone."""
    if queries.frame.distance != "l2":
        return np.zeros(part.stop - part.start, dtype=np.float32)
    with np.errstate(over="ignore"):
        return (1 / (queries.scales[part] * queries.steps[part])).astype(np.float32)


def seeming_scores(queries: Int8Queries, seeming: Singles, part: slice) -> Doubles:
    """What sums less `square_scales` times dg, over da, stand for as scores, had nothing been rounded."""
    products = seeming.astype(np.float64) * queries.steps[part]
    scales, shifts = queries.scales[part], queries.shifts[part]
    if queries.frame.distance == "l2":
        return -np.sqrt(np.maximum(2 * scales * (shifts - products), 0.0))
    scores = products + shifts
    return scores if queries.frame.distance == "cosine" else scores * scales


def _bounds(queries: Int8Queries, part: slice) -> tuple[Doubles, Doubles, Doubles]:
    """What the rounding of a query loses: of dg, of da and of dd, rounded up."""
    errors, steps, size = queries.errors[part], queries.steps[part], queries.frame.size
    safe = (1 + SINGLE) / steps
    return errors / size * safe, errors * size / 2 * safe, (1 + errors) * safe


def multiply(queries: Int8Queries, block: Int8Block, part: slice, first: int, stop: int) -> NDArray[np.int32]:
    """The sums (q, d) of the queries of `part` (which begins a panel) with the documents `first` (which
    begins a tile of any kernel) to `stop`, and of no pair beyond."""
    return queries.frame.kernel.multiply(queries.packed, block.bytes, part, first, stop)


@jit
def round_queries(
    values: Singles,
    mean: Doubles,
    moved: bool,
    most: float,
    most_of_lane: float,
    first: int,
    stop: int,
    whole: NDArray[np.int8],
    steps: Doubles,
    scales: Doubles,
    shifts: Doubles,
    errors: Doubles,
) -> None:
    """Write the whole numbers of the queries `first` to `stop` and what is lost; `moved`: the mean is taken
    off first (l2).

    `most` and `most_of_lane` are what a number, and the length of a lane of 32, may be.
    """
    dimensions = values.shape[1]
    p = np.zeros(whole.shape[1])
    lanes = np.zeros(2)
    for row in range(first, stop):
        square = 0.0
        for i in range(dimensions):
            p[i] = np.float64(values[row, i]) - (mean[i] if moved else 0.0)
            square += p[i] * p[i]
        scale = np.sqrt(square) if square > 0 else 1.0
        shift, largest, lane = 0.0, 0.0, 0.0
        for c in range(0, len(p), CHUNK):
            lanes[:] = 0.0
            for i in range(c, min(c + CHUNK, dimensions)):
                p[i] /= scale
                shift += p[i] * mean[i]
                largest = max(largest, abs(p[i]))
                lanes[i // 2 % 2] += p[i] * p[i]
            lane = max(lane, lanes[0], lanes[1])
        step = max(largest / most, np.sqrt(lane) / most_of_lane, 1.0 / LONGEST_QUERY if square > 0 else 1.0)
        error = 0.0
        for i in range(dimensions):
            near = np.rint(p[i] / step)
            left = p[i] - near * step
            whole[row, i] = np.int8(near)
            error += left * left
        steps[row], scales[row] = step, scale
        shifts[row] = square / (2 * scale) if moved else shift
        errors[row] = np.sqrt(error) * (1 + (dimensions + ADDITIONS) * ROUNDING)


@jit
def round_documents(
    values: Singles,
    inverse: Doubles,
    mean: Doubles,
    packed: NDArray[np.uint32],
    da: Singles,
    dg: Singles,
    dd: Singles,
    interleaved: int,
    offset: int,
    first: int,
    stop: int,
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
    most, sums = np.zeros(CHUNK), np.zeros(CHUNK)
    rounding = (dimensions + ADDITIONS) * ROUNDING
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
        for c in range(chunks):
            for i in range(CHUNK):
                # Adding and taking away 1.5 * 2**52 rounds to a whole number, and vectorises.
                near = (z[c * CHUNK + i] * per_step + 6755399441055744.0) - 6755399441055744.0
                left = z[c * CHUNK + i] - near * step
                whole[c * CHUNK + i] = near
                sums[i] = sums[i] + left * left
        for i in range(width):
            codes[i] = np.uint8(np.int32(whole[i]) + offset)
        error = 0.0
        for i in range(CHUNK):
            error += sums[i]
        bound = np.sqrt(error) * (1 + rounding) + rounding * (np.sqrt(square) + mean_length)
        da[row] = 1.0 / step
        dg[row] = square / 2 / step
        dd[row] = bound / step * (1 + BOUND_ROOM) + BOUND_ROOM
        at = row // interleaved * (width // 4) * interleaved + row % interleaved
        for i in range(width // 4):
            packed[at + i * interleaved] = words[i]


def _singles(first: Doubles, second: Doubles, third: Doubles) -> tuple[Singles, Singles, Singles]:
    with np.errstate(over="ignore"):  # infinity lets a pair through, or makes nothing sure
        return first.astype(np.float32), second.astype(np.float32), third.astype(np.float32)


def _whole(count: int, step: int) -> int:
    return -(-count // step) * step
