"""Float32 products of directions, tile by tile, with a proven bound that says which pairs they decide.

A product of two directions in float32 is off by at most d u / (1 - d u) in any order of its sums (Higham,
Accuracy and Stability of Numerical Algorithms, section 3.1), a little more for the rounding of the two
directions and of the score. A pair further than that from what it is compared with is decided; the others are
listed, to be scored by `exact.scores`. BLAS runs on one thread in each of our threads, so that a tile's
product is read while it is in that core's cache.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.exact.scores import CheckedVectors, Rows, Vectors, count_threads
from pinakes.indexers.probes.base import one_blas_thread
from pinakes.jit import jit

T = TypeVar("T")
R = TypeVar("R")

TILE = 1024  # rows and columns: 4 MiB of a product
CHUNK: Final = 256  # columns that are decided together
UNIT_ROUNDOFF: Final = 2.0**-24


def measure_bound(width: int) -> float:
    """How far a product of directions can be from the score of its pair.

    >>> 4e-5 < measure_bound(768) < 6e-5
    True
    """
    return 1.1 * (width + 32) * UNIT_ROUNDOFF + width * 2.0**-126


def make_directions(checked: CheckedVectors) -> Vectors:
    """The vectors over their lengths in float32 (n, d); zeros stay zeros."""
    directions = np.empty_like(checked.values)
    for part in cut(len(directions), 4096):
        directions[part] = CheckedVectors(checked.values[part], checked.lengths[part]).directions()
    return directions


def widen(scores: NDArray[np.float32], width: int) -> tuple[Vectors, Vectors]:
    """The products from which, and up to which, a pair may have a score on the other side of `scores`."""
    wide, bound = scores.astype(np.float64), measure_bound(width)
    infinite = np.float32(np.inf)
    low = np.nextafter((wide - bound).astype(np.float32), -infinite)
    return low, np.nextafter((wide + bound).astype(np.float32), infinite)


def cut(count: int, step: int) -> list[slice]:
    """Slices of at most `step` that make up `range(count)`.

    >>> cut(5, 3)
    [slice(0, 3, None), slice(3, 5, None)]
    """
    return [slice(first, min(first + step, count)) for first in range(0, count, step)]


def work_in_threads(work: Callable[[T], R], parts: Sequence[T]) -> Iterator[R]:
    """The results of `work` in the order of `parts`, computed in torch's number of threads, one BLAS each."""
    with one_blas_thread(), ThreadPoolExecutor(count_threads()) as workers:
        yield from workers.map(work, parts)


class Room(NamedTuple):
    """Memory for one thread's tile: the product, and the undecided pairs' rows and columns."""

    product: NDArray[Any]
    left: Rows
    right: Rows

    @classmethod
    def make(cls) -> "Room":
        """Room for `TILE` rows and columns."""
        return cls(np.empty(TILE * TILE, np.float32), *(np.empty(TILE * TILE, np.int64) for _ in range(2)))

    def multiply(self, left: Vectors, right: Vectors) -> NDArray[np.float32]:
        """The products of all rows of two tiles."""
        shape = (len(left), len(right))
        product = self.product[: shape[0] * shape[1]].reshape(shape)
        return np.matmul(left, right.T, out=product)


@jit
def decide(
    product: NDArray[np.float32],
    lows: NDArray[np.float32],
    highs: NDArray[np.float32],
    bottom: float,
    top: float,
    upper: bool,
    counts: NDArray[np.int64],
    left: Rows,
    right: Rows,
) -> int:
    """Count each row's products above `highs` into `counts`; list what is undecided, and say how many.

    Undecided are products from `lows` to `highs` and those not between `bottom` and `top`; they are not
    counted. `upper` looks right of the diagonal alone.
    """
    found = 0
    least, most = np.float32(bottom), np.float32(top)
    for i in range(product.shape[0]):
        low, high = lows[i], highs[i]
        row = product[i]
        for first in range(i + 1 if upper else 0, product.shape[1], CHUNK):
            part = row[first : min(first + CHUNK, product.shape[1])]
            above = np.uint32(0)
            open_pairs = np.uint32(0)
            for x in part:
                above = np.uint32(above + np.uint32(x > high))
                is_open = ((x >= low) & (x <= high)) | (x <= least) | (x >= most)
                open_pairs = np.uint32(open_pairs | np.uint32(is_open))
            if not open_pairs:
                counts[i] += above
                continue
            for j in range(part.shape[0]):
                x = part[j]
                if ((x >= low) & (x <= high)) | (x <= least) | (x >= most):
                    left[found] = i
                    right[found] = first + j
                    found += 1
                elif x > high:
                    counts[i] += 1
    return found
