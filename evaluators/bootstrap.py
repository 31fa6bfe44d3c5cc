"""How far figures would move with other test papers or queries: samples drawn again, with replacement.

The draws depend on the benchmark's name, the number of its units and the seed alone: every run of a benchmark
sees the same ones, so that differences of runs are paired, and no number of threads changes a bit. (Efron and
Tibshirani 1993, chapters 13 and 16.)
"""

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import EvaluationError

RESAMPLES: Final = 1_000
SEED: Final = 0
LEVELS: Final = (2.5, 97.5)
"""percentiles of an interval"""
MOST_COUNTS: Final = 4_000_000
"""as many counts are held at once: 32 MiB of float64"""

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Resampling:
    """Which samples are drawn of the `size` units (test papers or queries) of a benchmark.

    With `rows`, these units alone are looked at, as often as a sample of all has them.
    """

    benchmark: str
    size: int
    count: int = RESAMPLES
    seed: int = SEED
    rows: NDArray[np.intp] | None = None

    def __post_init__(self) -> None:
        if self.size < 1 or self.count < 1:
            raise EvaluationError(f"{self.count} samples of {self.size} units; expected one or more of each")

    def draw(self) -> Iterator[tuple[slice, NDArray[np.int32]]]:
        """Blocks of samples: which of them, and how often each unit is in each (samples, units).

        >>> [(part, counts.sum(axis=1).tolist()) for part, counts in Resampling("toy", 4, count=2).draw()]
        [(slice(0, 2, None), [4, 4])]
        """
        name = int.from_bytes(hashlib.md5(self.benchmark.encode(), usedforsecurity=False).digest()[:4])
        random = np.random.default_rng([self.seed, name])
        at_once = max(1, MOST_COUNTS // self.size)
        for start in range(0, self.count, at_once):
            part = slice(start, min(start + at_once, self.count))
            rows = part.stop - start
            chosen = random.integers(self.size, size=(rows, self.size))
            chosen += np.arange(rows)[:, None] * self.size
            counts = np.bincount(chosen.ravel(), minlength=rows * self.size).astype(np.int32)
            counts = counts.reshape(rows, self.size)
            yield part, counts if self.rows is None else counts[:, self.rows]


def resample_means(resampling: Resampling, values: Values, weights: Values | None = None) -> Values:
    """The mean of each row of `values` (m, units) over each sample (m, samples); NaN of a sample of none.

    With `weights` (units,) a unit stands for that many queries, and its value is their sum: a sample's mean
    is over the queries of its units.

    >>> resample_means(Resampling("toy", 3, count=2), np.array([[0.5, 0.5, 0.5]])).tolist()
    [[0.5, 0.5]]
    """
    means = np.empty((len(values), resampling.count))
    for part, counts in resampling.draw():
        totals = counts.sum(axis=1) if weights is None else _multiply(counts, weights[None])[0]
        with np.errstate(invalid="ignore"):
            means[:, part] = _multiply(counts, values) / totals
    return means


def _multiply(counts: NDArray[np.int32], values: Values) -> Values:
    """The sums of `values` (m, units) in each sample (m, samples), not by BLAS, whose threads change bits."""
    sums: Values = np.einsum("bn,mn->mb", counts.astype(np.float64), values, optimize=False)
    return sums


def find_interval(resampled: Values) -> tuple[float, float]:
    """The percentile interval of a value from its resamples (n,).

    >>> find_interval(np.arange(1001.0))
    (25.0, 975.0)
    """
    low, high = np.percentile(resampled, LEVELS)
    return float(low), float(high)


def paired_p(difference: float, resampled: Values) -> float:
    """The two-sided p value of a difference of two runs, from its values over the same resamples (n,).

    That of the normal distribution with the resamples' standard deviation. Trap: a share of resamples beyond
    zero is no replacement where many pairs are corrected for; of 1,000 the smallest is 0.002, which Holm's
    correction over 45 pairs makes 0.09 for any difference.

    >>> paired_p(0.0, np.zeros(5)), paired_p(0.1, np.full(5, 0.1))
    (1.0, 0.0)
    >>> round(paired_p(1.96, np.array([-1.0, 1.0]) / math.sqrt(2)), 3)  # standard deviation 1
    0.05
    """
    deviation = float(np.std(resampled, ddof=1)) if np.ptp(resampled) else 0.0
    if deviation == 0:
        return 1.0 if difference == 0 else 0.0
    return math.erfc(abs(difference) / deviation / math.sqrt(2))
