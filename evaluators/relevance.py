"""Average precision and area under the ROC curve of labelled scores, of many groups at once.

As scikit-learn has them (`average_precision_score`, `roc_auc_score`): equal scores are one threshold. Average
precision is the sum over thresholds of the precision there times the recall gained. Trap: it is not the AP of
rankings (`evaluators.standard`), whose order among equal scores is total.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Thresholds:
    """Labelled scores by group and distinct score, the highest first: blocks of equal scores.

    Attributes:
        groups: the group of each block, ascending (b,).
        positives, sizes: labels that are true, and all, in each block (b,).
        positives_above, sizes_above: those of the group's blocks before it (b,).
        totals, counts: labels that are true, and all, of each group (g,).
    """

    groups: NDArray[np.intp]
    positives: Counts
    sizes: Counts
    positives_above: Counts
    sizes_above: Counts
    totals: Counts
    counts: Counts


def find_thresholds(
    groups: NDArray[np.intp], scores: Values, labels: NDArray[np.bool_], count: int
) -> Thresholds:
    """The blocks of equal scores of each of `count` groups (rows,); minus infinity is a score too.

    >>> scores, labels = np.array([0.5, 0.9, 0.5]), np.array([True, False, False])
    >>> found = find_thresholds(np.zeros(3, int), scores, labels, 1)
    >>> found.positives.tolist(), found.sizes.tolist(), found.sizes_above.tolist()
    ([0, 1], [1, 2], [0, 1])
    """
    order = np.lexsort((-scores, groups))
    group, score, label = groups[order], scores[order], labels[order].astype(np.int64)
    first = np.ones(len(order), dtype=bool)
    first[1:] = (group[1:] != group[:-1]) | (score[1:] != score[:-1])
    starts = np.flatnonzero(first)
    sizes = np.diff(np.append(starts, len(order)))
    positives = np.add.reduceat(label, starts) if len(starts) else np.zeros(0, np.int64)
    of_block = group[starts]
    totals = np.bincount(of_block, positives, count).astype(np.int64)
    counts = np.bincount(of_block, sizes, count).astype(np.int64)
    above = [
        np.cumsum(values) - values - (np.cumsum(whole) - whole)[of_block]
        for values, whole in ((positives, totals), (sizes, counts))
    ]
    return Thresholds(of_block, positives, sizes, above[0], above[1], totals, counts)


def average_precisions(thresholds: Thresholds) -> Values:
    """The average precision of each group (g,); NaN of one without a true label, where it is not defined.

    >>> labels = np.array([True, False, True])
    >>> average_precisions(find_thresholds(np.zeros(3, int), np.array([3.0, 2.0, 1.0]), labels, 1)).tolist()
    [0.8333333333333333]
    """
    one = thresholds
    precision = (one.positives_above + one.positives) / np.maximum(one.sizes_above + one.sizes, 1)
    gained = np.bincount(one.groups, precision * one.positives, len(one.totals))
    with np.errstate(invalid="ignore"):
        found: Values = gained / np.where(one.totals > 0, one.totals, np.nan)
    return found


def roc_areas(thresholds: Thresholds) -> Values:
    """The area under the ROC curve of each group (g,); NaN where all labels are alike: it is not defined.

    The share of pairs of a true and a false label that are in order; a tie is half a pair.

    >>> labels = np.array([True, False, False])
    >>> roc_areas(find_thresholds(np.zeros(3, int), np.array([2.0, 2.0, 1.0]), labels, 1)).tolist()
    [0.75]
    """
    one = thresholds
    false = one.sizes - one.positives
    false_total = one.counts - one.totals
    below = false_total[one.groups] - (one.sizes_above - one.positives_above) - false
    ordered = np.bincount(one.groups, one.positives * (below + false / 2), len(one.totals))
    pairs = one.totals * false_total
    found: Values = ordered / np.where(pairs > 0, pairs, np.nan)
    return found


def two_standard_errors(values: Values) -> float:
    """Twice the standard error of a mean, from the population's deviation: 2 std / sqrt(n); 0 of no value.

    >>> two_standard_errors(np.array([0.0, 1.0, 0.0, 1.0]))
    0.5
    """
    return float(2 * np.std(values) / np.sqrt(len(values))) if len(values) else 0.0
