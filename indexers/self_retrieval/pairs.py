"""The cosines of all pairs: extremes, mean, deviation, and how many are above the mean.

Mean and deviation are computed from sums over the vectors, without the pairs. The rest takes one pass over
the tiles above the diagonal.
"""

import threading
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.exact.scores import CheckedVectors, Vectors, check_vectors, score_rows
from pinakes.indexers.self_retrieval import tiles
from pinakes.indexers.self_retrieval.space import PairStatistics

CHUNK_ROWS: Final = 4096  # whose sums are made together: a fixed number, since it decides the last bits
FIRST_PAIRS: Final = 1024


def measure_pairs(vectors: Vectors) -> PairStatistics:
    """As `space.measure_pairs`, of two vectors or more."""
    checked = check_vectors(vectors, "text")
    mean, deviation = measure_moments(checked)
    scan = _Scan(checked, mean)
    parts = tiles.cut(len(vectors), tiles.TILE)
    work = [(parts[i], parts[j]) for i in range(len(parts)) for j in range(i, len(parts))]
    above = sum(tiles.work_in_threads(scan.look, work))
    count = len(vectors)
    return PairStatistics(
        count, count * (count - 1) // 2, float(scan.lowest), float(scan.highest), mean, deviation, above
    )


def measure_moments(checked: CheckedVectors) -> tuple[float, float]:
    """Mean and standard deviation of the cosines of all pairs.

    With g = |m|^2, m the mean of the n directions u, and w = u - m, the squares of all (u.v - g), each pair
    both ways and each u with itself, sum up to 2 n sum((m.w)^2) + |W^T W|^2, since the w sum up to 0. What
    the u have with themselves is taken away, which leaves an error of 1e-8 where two or three papers do not
    vary; where many are nearly equal, nothing large cancels.
    """
    count = len(checked.values)
    parts = tiles.cut(count, CHUNK_ROWS)

    def directions(part: slice) -> NDArray[np.float64]:
        return CheckedVectors(checked.values[part], checked.lengths[part]).directions()

    def squares(part: slice) -> tuple[NDArray[np.float64], float]:
        away = directions(part) - centre
        return away.T @ away, float(((away @ centre) ** 2).sum())

    total = sum(tiles.work_in_threads(lambda part: directions(part).sum(axis=0), parts))
    centre = total / count
    middle = float((centre**2).sum())
    gram, along = np.zeros((len(centre), len(centre))), 0.0
    for product, square in tiles.work_in_threads(squares, parts):
        gram += product
        along += square
    own = float((checked.lengths > 0).sum())
    own_squares = own * (1 - middle) ** 2 + (count - own) * middle**2
    both_ways = count * (count - 1)
    offset = (count * middle - own) / both_ways  # of the mean of the pairs from g
    square = (2 * count * along + float((gram**2).sum()) - own_squares) / both_ways - offset**2
    return middle + offset, float(np.sqrt(max(square, 0.0)))


class _Scan:
    """Tiles of pairs against the mean and against the extremes so far, which threads share."""

    def __init__(self, checked: CheckedVectors, mean: float) -> None:
        self._checked, self._width = checked, checked.values.shape[1]
        self._directions = tiles.make_directions(checked)
        self._mean = np.float32(mean)
        lows, highs = tiles.widen(np.full(tiles.TILE, self._mean), self._width)
        self._lows, self._highs = lows, highs
        others = np.arange(1, min(len(checked.values), FIRST_PAIRS))
        first = score_rows(checked, checked, np.zeros_like(others), others, "cosine")
        self.lowest, self.highest = first.min(), first.max()
        self._lock, self._rooms = threading.Lock(), threading.local()

    def look(self, where: tuple[slice, slice]) -> int:
        """How many pairs of a tile are above the mean; takes note of the extremes."""
        if not hasattr(self._rooms, "room"):
            self._rooms.room = tiles.Room.make()
        room: tiles.Room = self._rooms.room
        rows, columns = where
        product = room.multiply(self._directions[rows], self._directions[columns])
        counts = np.zeros(len(product), dtype=np.int64)
        bottom, top = self._limits()
        found = tiles.decide(
            product, self._lows, self._highs, bottom, top, rows == columns, counts, room.left, room.right
        )
        left, right = room.left[:found] + rows.start, room.right[:found] + columns.start
        scores = score_rows(self._checked, self._checked, left, right, "cosine")
        with self._lock:
            self.lowest = min(self.lowest, scores.min(initial=self.lowest))
            self.highest = max(self.highest, scores.max(initial=self.highest))
        return int(counts.sum()) + int((scores > self._mean).sum())

    def _limits(self) -> tuple[float, float]:
        """Products beyond which a pair may be a new extreme; none is beyond -1 and 1."""
        with self._lock:
            lowest, highest = self.lowest, self.highest
        below = tiles.widen(np.array([lowest]), self._width)[1][0] if lowest > -1 else -np.inf
        above = tiles.widen(np.array([highest]), self._width)[0][0] if highest < 1 else np.inf
        return float(below), float(above)
