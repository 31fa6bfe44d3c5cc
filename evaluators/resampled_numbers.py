"""Correlations of predicted numbers with the true ones over resamples of the test papers.

Each equals scipy's correlation of the sample written out. Where that is undefined, since all numbers of a
side are one, it is 0: no order was shown.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pinakes.evaluators.bootstrap import Resampling, Values, resample_means
from pinakes.jit import jit

Array = NDArray[Any]

_LEAST_SPREAD: Final = 1e-12
"""a variance below this share of the mean square is rounding"""


def resample_pearson(resampling: Resampling, truth: Values, predicted: Values) -> Values:
    """Pearson's correlation in each sample (samples,)."""
    x, y = (values - values.mean() for values in (truth, predicted))
    x, y, xx, yy, xy = resample_means(resampling, np.stack([x, y, x * x, y * y, x * y]))
    variances = [square - mean * mean for mean, square in ((x, xx), (y, yy))]
    flat = (variances[0] <= _LEAST_SPREAD * xx) | (variances[1] <= _LEAST_SPREAD * yy)
    product = np.where(flat, 1.0, variances[0] * variances[1])
    return np.where(flat, 0.0, np.clip((xy - x * y) / np.sqrt(product), -1, 1))


def resample_tau(resampling: Resampling, truth: Values, predicted: Values) -> Values:
    """Kendall's tau-b in each sample (samples,), in n log n steps each (Knight 1966).

    The order is found once; a sample's papers count as often as it has them. Pairs are whole numbers, so that
    the last rounding alone decides the bits.
    """
    order = np.lexsort((predicted, truth))
    groups, ranks = (np.unique(values[order], return_inverse=True)[1] for values in (truth, predicted))
    taus = np.empty(resampling.count)
    threads = os.cpu_count() or 1
    with ThreadPoolExecutor(threads) as workers:
        for part, counts in resampling.draw():
            rows = np.array_split(counts, threads)
            done = workers.map(lambda rows: _correlate(rows, order, groups, ranks), rows)
            taus[part] = np.concatenate(list(done))
    return taus


def _correlate(counts: Array, order: Array, groups: Array, ranks: Array) -> Values:
    taus = np.empty(len(counts))
    tree = np.zeros(int(ranks.max()) + 2, np.int64)
    tied = np.zeros(int(ranks.max()) + 1, np.int64)
    _correlate_rows(counts, order, groups, ranks, tree, tied, taus)
    return taus


@jit
def _add(tree: Array, place: int, count: int) -> None:
    """Count at a place of a Fenwick tree, whose places begin with 0."""
    place += 1
    while place < tree.shape[0]:
        tree[place] += count
        place += place & -place


@jit
def _sum_to(tree: Array, place: int) -> int:
    """What was counted at the places up to this one."""
    place += 1
    total = 0
    while place > 0:
        total += tree[place]
        place -= place & -place
    return total


@jit
def _correlate_rows(
    counts: Array, order: Array, groups: Array, ranks: Array, tree: Array, tied: Array, taus: Array
) -> None:
    """Tau-b of each row of counts; `groups` and `ranks` number the values of both sides in `order`."""
    papers = order.shape[0]
    for row in range(counts.shape[0]):
        tree[:] = 0
        tied[:] = 0
        seen = 0
        discordant = 0
        tied_groups = 0
        tied_both = 0
        start = 0
        while start < papers:
            stop = start
            in_group = 0
            in_both = 0
            while stop < papers and groups[stop] == groups[start]:
                count = counts[row, order[stop]]
                if stop > start and ranks[stop] != ranks[stop - 1]:
                    tied_both += in_both * (in_both - 1) // 2
                    in_both = 0
                if count > 0:
                    discordant += count * (seen - _sum_to(tree, ranks[stop]))
                    in_group += count
                    in_both += count
                stop += 1
            tied_both += in_both * (in_both - 1) // 2
            tied_groups += in_group * (in_group - 1) // 2
            for place in range(start, stop):
                count = counts[row, order[place]]
                if count > 0:
                    _add(tree, ranks[place], count)
                    tied[ranks[place]] += count
            seen += in_group
            start = stop
        tied_ranks = 0
        for rank in range(tied.shape[0]):
            tied_ranks += tied[rank] * (tied[rank] - 1) // 2
        pairs = seen * (seen - 1) // 2
        agreed = pairs - tied_groups - tied_ranks + tied_both - 2 * discordant
        spread = np.sqrt(float(pairs - tied_groups)) * np.sqrt(float(pairs - tied_ranks))
        taus[row] = agreed / spread if spread > 0 else 0.0
