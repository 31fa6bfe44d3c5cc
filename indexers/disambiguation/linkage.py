"""Blocks cut into clusters: average linkage over distances, and the threshold that suits known clusters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

DEFAULT_THRESHOLD: Final = 0.5
THRESHOLDS: Final = tuple(step / 100 for step in range(1, 100))

Quality = Callable[[Sequence[object], Sequence[object]], float]
"""gives how well predicted clusters, the second, are the true ones: higher is better"""


@dataclass(frozen=True, slots=True, eq=False)
class Linked:
    """A block whose members were joined, nearest first: `tree` is scipy's (size - 1, 4)."""

    size: int
    tree: Floats

    def cut(self, threshold: float) -> Labels:
        """The cluster of each member, from 0 on by first mention; joined are those at most so far apart."""
        from scipy.cluster.hierarchy import fcluster  # late: only clusterings need it

        if self.size < 2:
            return np.zeros(self.size, dtype=np.int64)
        found = fcluster(self.tree, t=threshold, criterion="distance")
        numbers = {label: number for number, label in enumerate(dict.fromkeys(found.tolist()))}
        return np.array([numbers[label] for label in found.tolist()], dtype=np.int64)


def link_block(size: int, distances: Floats) -> Linked:
    """A block of `size` members joined by average linkage over all their distances (condensed).

    >>> link_block(3, np.array([0.1, 0.9, 0.9])).cut(0.5).tolist()
    [0, 0, 1]
    """
    from scipy.cluster.hierarchy import linkage  # late: only clusterings need it

    return Linked(size, linkage(distances, method="average") if size > 1 else np.empty((0, 4)))


def choose_threshold(
    blocks: Sequence[Linked], clusters: Sequence[Sequence[object]], quality: Quality
) -> tuple[float, float | None]:
    """The threshold of `THRESHOLDS` by which the blocks are nearest to their true clusters, and that quality.

    Of several that are equally good, the middle one. Blocks of one member decide nothing; where there are no
    others, the threshold is 0.5 and nothing is known of its quality.
    """
    chosen = [(block, true) for block, true in zip(blocks, clusters, strict=True) if block.size > 1]
    if not chosen:
        return DEFAULT_THRESHOLD, None
    truth = [cluster for _, true in chosen for cluster in true]
    values = []
    for threshold in THRESHOLDS:
        found = [
            (place, label)
            for place, (block, _) in enumerate(chosen)
            for label in block.cut(threshold).tolist()
        ]
        values.append(quality(truth, found))
    best = max(values)
    equal = [threshold for threshold, value in zip(THRESHOLDS, values, strict=True) if value == best]
    return equal[(len(equal) - 1) // 2], best
