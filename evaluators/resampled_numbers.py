"""Correlations of predicted numbers with the true ones over resamples of the test papers.

Each equals `pinakes.evaluators.labels.score_numbers` of the sample written out, but for samples whose true
numbers are all equal: these show no order and are worth 0.
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


def resample_numbers(measure: str, resampling: Resampling, true: Values, predicted: Values) -> Values:
    """A measure of `pinakes.evaluators.labels.NUMBER_MEASURES` in each sample (samples,).

    `true` and `predicted` are (papers,); a prediction that is missing is NaN.
    """
    return {"KendallTau": _resample_tau, "Pearson": _resample_pearson}[measure](resampling, true, predicted)


def _resample_pearson(resampling: Resampling, true: Values, predicted: Values) -> Values:
    answered = ~np.isnan(predicted)
    weights = answered.astype(np.float64)
    x, y = (
        np.where(answered, values - values[answered].mean() if answered.any() else 0.0, 0.0)
        for values in (true, np.where(answered, predicted, 0.0))
    )
    x, y, xx, yy, xy = resample_means(resampling, np.stack([x, y, x * x, y * y, x * y]), weights)
    (share,) = resample_means(resampling, weights[None])
    variances = [square - mean * mean for mean, square in ((x, xx), (y, yy))]
    is_ordered = (variances[0] > _LEAST_SPREAD * xx) & (variances[1] > _LEAST_SPREAD * yy)
    product = np.where(is_ordered, variances[0] * variances[1], 1.0)
    found = np.where(is_ordered, np.clip((xy - x * y) / np.sqrt(product), -1, 1), 0.0)
    return np.where(found > 0, found * share, found)


def _resample_tau(resampling: Resampling, true: Values, predicted: Values) -> Values:
    """Kendall's tau-b in n log n steps a sample (Knight 1966).

    The order is found once; a sample's papers count as often as it has them. Pairs are whole numbers, so that
    the last roundings alone decide the bits.
    """
    order = np.lexsort((predicted, true))
    groups = np.unique(true[order], return_inverse=True)[1]
    ordered = predicted[order]
    ranks = np.full(len(order), -1)
    answered = ~np.isnan(ordered)
    ranks[answered] = np.unique(ordered[answered], return_inverse=True)[1]
    taus = np.empty(resampling.count)
    threads = os.cpu_count() or 1
    with ThreadPoolExecutor(threads) as workers:
        for part, counts in resampling.draw():
            rows = np.array_split(counts, threads)
            done = workers.map(lambda rows: _correlate(rows, order, groups, ranks), rows)
            taus[part] = np.clip(np.concatenate(list(done)), -1, 1)
    return taus


def _correlate(counts: Array, order: Array, groups: Array, ranks: Array) -> Values:
    taus = np.empty(len(counts))
    different = int(ranks.max(initial=-1)) + 1
    tree, tied = np.zeros(different + 1, np.int64), np.zeros(different, np.int64)
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
def _count_pairs(papers: int) -> int:
    """How many pairs so many papers make."""
    return papers * (papers - 1) // 2


@jit
def _correlate_rows(
    counts: Array, order: Array, groups: Array, ranks: Array, tree: Array, tied: Array, taus: Array
) -> None:
    """Tau-b of each row of counts; `groups` and `ranks` number the values of both sides in `order`.

    A rank of -1 is a missing prediction: each pair with one whose true numbers differ is discordant.
    """
    papers = order.shape[0]
    for row in range(counts.shape[0]):
        tree[:] = 0
        tied[:] = 0
        seen = 0  # papers so far that have a prediction
        everyone = 0
        discordant = 0
        # pairs of one true number: of all papers, of those with a prediction, and of one prediction too
        tied_groups = 0
        tied_kept = 0
        tied_both = 0
        start = 0
        while start < papers:
            stop = start
            in_group = 0
            in_kept = 0
            in_both = 0
            while stop < papers and groups[stop] == groups[start]:
                count = counts[row, order[stop]]
                if stop > start and ranks[stop] != ranks[stop - 1]:
                    tied_both += _count_pairs(in_both)
                    in_both = 0
                in_group += count
                if count > 0 and ranks[stop] >= 0:
                    discordant += count * (seen - _sum_to(tree, ranks[stop]))
                    in_kept += count
                    in_both += count
                stop += 1
            tied_both += _count_pairs(in_both)
            tied_kept += _count_pairs(in_kept)
            tied_groups += _count_pairs(in_group)
            for place in range(start, stop):
                count = counts[row, order[place]]
                if count > 0 and ranks[place] >= 0:
                    _add(tree, ranks[place], count)
                    tied[ranks[place]] += count
            everyone += in_group
            seen += in_kept
            start = stop
        tied_ranks = 0
        for rank in range(tied.shape[0]):
            tied_ranks += _count_pairs(tied[rank])
        pairs = _count_pairs(seen)
        untied = _count_pairs(everyone) - tied_groups
        missing = untied - (pairs - tied_kept)
        agreed = pairs - tied_kept - tied_ranks + tied_both - 2 * discordant - missing
        spread = np.sqrt(float(untied)) * np.sqrt(float(pairs - tied_ranks + missing))
        taus[row] = agreed / spread if spread > 0 else 0.0
