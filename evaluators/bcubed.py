"""B-cubed precision, recall and F1 of a clustering (Bagga and Baldwin 1998; Amigó et al. 2009).

Of one item, precision is the share of its predicted cluster that is in its true cluster, recall the share of
its true cluster that is in its predicted one; both count the item itself. Of a clustering they are the means
over the items, and F1 is the harmonic mean *of these two means*, as S2AND computes it: not the mean of the F1
of items.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PRECISION: Final = "B3_precision"
RECALL: Final = "B3_recall"
F1: Final = "B3_F1"
MEASURES: Final = (F1, PRECISION, RECALL)
"""the names of the measures, the headline's first"""


@dataclass(frozen=True, slots=True, eq=False)
class BCubed:
    """The precision and recall of each item (n,), in the order in which the items were given."""

    precision: Floats
    recall: Floats

    @property
    def f1(self) -> Floats:
        """The harmonic mean of each item's own precision and recall (n,)."""
        return combine_f1(self.precision, self.recall)


def compare_clusterings(true: Sequence[Hashable], predicted: Sequence[Hashable | None]) -> BCubed:
    """The precision and recall of each item, from its true and its predicted cluster.

    An item without a predicted cluster (None) has both zero, and stays in its true cluster: leaving items out
    never raises the recall of the others. Takes n log n steps, whatever the clusters.

    >>> found = compare_clusterings(["a", "a", "b"], [1, 2, 2])
    >>> found.precision.tolist(), found.recall.tolist()
    ([1.0, 0.5, 0.5], [0.5, 0.5, 1.0])
    """
    if len(true) != len(predicted):
        raise ValueError(
            f"{len(true)} true and {len(predicted)} predicted clusters; expected one each an item"
        )
    is_there = np.array([cluster is not None for cluster in predicted], dtype=bool)
    truth, found = _number(true), _number(predicted)
    true_size, found_size = np.bincount(truth), np.bincount(found)
    _, pair, shared = np.unique(truth * (len(true) + 1) + found, return_inverse=True, return_counts=True)
    common = shared[pair] * is_there
    return BCubed(common / found_size[found], common / true_size[truth])


def measure_f1(true: Sequence[Hashable], predicted: Sequence[Hashable | None]) -> float:
    """B-cubed F1 of a whole clustering; sums are exactly rounded, so that no order of items changes a digit.

    >>> round(measure_f1(["a", "a", "b"], [1, 2, 2]), 4)
    0.6667
    """
    found = compare_clusterings(true, predicted)
    count = max(1, len(true))
    return score_f1(math.fsum(found.precision.tolist()) / count, math.fsum(found.recall.tolist()) / count)


def score_f1(precision: float, recall: float) -> float:
    """The harmonic mean of precision and recall; 0 where both are 0."""
    return float(combine_f1(np.array([precision]), np.array([recall]))[0])


def combine_f1(precision: Floats, recall: Floats) -> Floats:
    """The harmonic mean of precision and recall, element by element; 0 where both are 0.

    >>> combine_f1(np.array([1.0, 0.0]), np.array([0.5, 0.0])).round(3).tolist()
    [0.667, 0.0]
    """
    total = precision + recall
    return np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)


def _number(clusters: Sequence[Hashable]) -> NDArray[np.int64]:
    """A number from 0 on for each distinct cluster, in the order of first mention."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(cluster, len(numbers)) for cluster in clusters], dtype=np.int64)
