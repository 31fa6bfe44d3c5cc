"""What the probes solved in the dual share: paths along C, the C that is chosen, threads."""

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final, TypeVar

import numpy as np

from pinakes.indexers.probes.base import Vectors, one_blas_thread
from pinakes.indexers.probes.dual import Boxes, Fit, fit_boxes, start_fit
from pinakes.indexers.probes.pairs import Numbers
from pinakes.indexers.probes.rows import Rows, widen

Item = TypeVar("Item")
Result = TypeVar("Result")

SHARPER: Final = 1e-2
"""of the tolerance: what the last fit goes on to, so that it leaves few predictions open"""


def fit_path(
    rows: Rows, make_boxes: Callable[[float], Boxes], grid: Sequence[float], tolerance: float, max_steps: int
) -> Iterator[Fit]:
    """The solution for each C of the grid, in the grid's order, each started from the one before."""
    fit = start_fit(rows)
    for limit in grid:
        fit = fit_boxes(rows, make_boxes(limit), fit, tolerance, max_steps)
        yield fit


def fit_last(
    rows: Rows, make_boxes: Callable[[float], Boxes], limit: float, tolerance: float, max_steps: int
) -> tuple[Fit, float]:
    """The solution for one C, sharper than the tolerance, and how far its weights are from the optimum's.

    The objective is strongly convex with modulus 1, so the distance is at most the root of twice the gap.
    """
    *_, near = fit_path(rows, make_boxes, [limit / 100, limit / 10, limit], tolerance, max_steps)
    boxes = make_boxes(limit)
    fit = fit_boxes(rows, boxes, near, SHARPER * tolerance, max_steps)
    rounding = 1e-15 * float(fit.weights @ fit.weights)
    return fit, float(np.sqrt(2.0 * max(boxes.measure_gap(fit), rounding)))


def decide(test: Vectors, intercept: bool, weights: Numbers) -> tuple[Numbers, Numbers]:
    """The decision values (m, K) of weights (d, K), and the length of each test vector (m,)."""
    values, lengths = np.empty((len(test), weights.shape[1])), np.empty(len(test))
    for first in range(0, len(test), 4096):
        part = widen(test[first : first + 4096], intercept)
        values[first : first + 4096] = part @ weights
        lengths[first : first + 4096] = np.sqrt(np.einsum("ij,ij->i", part, part))
    return values, lengths


def choose_first_best(fold_scores: Numbers) -> tuple[int, Numbers]:
    """The row (a C of the grid) with the highest mean over folds, the first of equals, and all means.

    As scikit-learn's GridSearchCV: a mean that is not a number counts as the lowest, and where all are none,
    the first row is taken.

    >>> choose_first_best(np.array([[0.5, 0.5], [1.0, 0.5], [0.5, 1.0]]))[0]
    1
    >>> choose_first_best(np.array([[np.nan, 1.0], [np.nan, 1.0]]))[0]
    0
    """
    means = np.average(fold_scores, axis=1)
    return int(np.argmax(np.where(np.isnan(means), -np.inf, means))), means


def run_all(function: Callable[[Item], Result], items: Sequence[Item], threads: int | None) -> list[Result]:
    """The function of every item, on so many threads (None: one a core) with one of BLAS each."""
    workers = min(threads or os.cpu_count() or 1, max(1, len(items)))
    with one_blas_thread(), ThreadPoolExecutor(workers) as pool:
        return list(pool.map(function, items))


@contextmanager
def quiet_about(message: str) -> Iterator[None]:
    """Nothing of this warning is shown: what it says is counted instead."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=message)
        yield
