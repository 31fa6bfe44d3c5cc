"""Classes predicted by linear classifiers of one class against the rest, C chosen on folds.

What `GridSearchCV(LinearSVC(loss="squared_hinge"), ..., cv=3)` of scikit-learn gives: all labels, folds and
values of C descend together, see `newton`. Leaves out: examples with several labels (`labels`).
"""

import warnings
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from pinakes.indexers.probes.base import (
    FEW_SHOT_C,
    FOLDS,
    Predictions,
    Rules,
    Vectors,
    check_examples,
    one_blas_thread,
)
from pinakes.indexers.probes.newton import Descent, rotate
from pinakes.indexers.probes.products import (
    LANES,
    NO_FOLD,
    ROWS,
    Codes,
    Doubles,
    Examples,
    Problems,
)
from pinakes.indexers.probes.steps import Scaling

GROUP_BYTES: Final = 12 << 20  # of what is kept for the problems that descend together
SHARPER: Final = 1e-3  # of the tolerance: the last fit goes on to it, which leaves few predictions open


def predict_classes(
    train: Vectors, classes: NDArray[np.int64], test: Vectors, rules: Rules, grid: Sequence[float] | None
) -> Predictions:
    """The class of each test paper (m, d), learnt from papers (n, d) of known `classes` (n,).

    Two classes are one problem, whose positive class is the greater; more are one problem each against
    the rest, and the greatest decision value wins, the first of equals. C is the value of `grid` with the
    greatest mean accuracy over three stratified folds (scikit-learn's, not shuffled), the first of equals;
    without a grid it is `FEW_SHOT_C`. A class that a fold's training examples lack is not predicted there.
    Where each class has fewer than three examples there are no folds: C is `FEW_SHOT_C`, grid scores are NaN
    (scikit-learn raises). Examples of one class alone predict that class, in a fold too.

    A decision value is within ||gradient|| ||x|| of the optimum's, since the function is strongly convex with
    modulus 1: `open_count` has the predictions for which that decides nothing. `decisions` of two classes are
    distances from 0; of one class they are 0. Raises `IndexingError` for input of wrong shapes or values.
    """
    check_examples(train, classes, test, grid)
    present, codes = np.unique(classes, return_inverse=True)
    if len(present) == 1:
        return _predict_one(int(present[0]), len(test), grid)
    folds = None if grid is None else split_folds(codes)
    basis: Doubles | None = None
    turned: NDArray[Any] = train
    with one_blas_thread():
        if len(train) < train.shape[1] + rules.intercept:
            turned, basis = rotate(train, rules.intercept)
        with Examples(turned, codes, folds, rules.intercept and basis is None) as examples:
            search = _Search(examples, len(present), rules.tolerance)
            scores = search.run(grid or (), folds is not None)
            cost = choose_cost(grid, scores)
            weights, remaining = search.refit(cost)
        if basis is not None:
            weights = basis @ weights
        chosen, decisions, open_count = _decide(test, weights, remaining, rules.intercept)
    counts = (open_count, search.unconverged, search.one_class_fits)
    return Predictions(present[chosen], decisions, (cost,), scores, *counts)


def choose_cost(grid: Sequence[float] | None, scores: Doubles) -> float:
    """The value of `grid` with the greatest score, the first of equals; `FEW_SHOT_C` where there is none.

    >>> choose_cost((0.1, 1.0, 10.0), np.array([0.5, 0.75, 0.75]))
    1.0
    """
    if not grid or np.isnan(scores).any():
        return FEW_SHOT_C
    return float(grid[int(np.argmax(scores))])


def split_folds(codes: Codes) -> Codes | None:
    """The fold (n,) that each example is tested in; None where every class has fewer examples than folds."""
    if np.bincount(codes).max() < FOLDS:
        return None
    folds = np.empty(len(codes), dtype=np.int64)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        for number, (_, tested) in enumerate(StratifiedKFold(FOLDS).split(codes, codes)):
            folds[tested] = number
    return folds


class _Search:
    # All folds and labels of one training set. `_starts`: for each C the mean of the folds' weights.
    def __init__(self, examples: Examples, classes: int, tolerance: float) -> None:
        self._examples, self._tolerance = examples, tolerance
        self._labels = np.arange(classes) if classes > 2 else np.array([1])
        self._scaling = Scaling.of(examples)
        self._starts: dict[float, Vectors] = {}
        self.unconverged = self.one_class_fits = 0

    def run(self, grid: Sequence[float], has_folds: bool) -> Doubles:
        """The mean accuracy over the folds of each value of the grid; NaN without folds."""
        if not has_folds:
            return np.full(len(grid), np.nan)
        costs = sorted(grid)
        shape = len(costs), len(self._examples)
        # Of two classes the first has the decision value 0.
        best = np.full(shape, -np.inf if len(self._labels) > 1 else 0.0)
        winner = np.zeros(shape, dtype=np.int64)
        self._starts = {c: np.zeros((self._examples.width, len(self._labels)), np.float32) for c in costs}
        for group in self._groups(FOLDS):
            self._descend(group, costs, best, winner)
        self._set_one_class(winner)
        right = winner == self._examples.classes
        folds = [right[:, self._examples.folds == fold].mean(axis=1) for fold in range(FOLDS)]
        scores: Doubles = np.average(folds, axis=0)
        return scores[[costs.index(cost) for cost in grid]]

    def refit(self, cost: float) -> tuple[Doubles, Doubles]:
        """Weights (D, labels) of all examples, and the norms of the gradients that remain."""
        parts = []
        for group in self._groups(1):
            problems = Problems(group, np.full(len(group), NO_FOLD))
            start = (
                self._starts[cost][:, group - self._labels[0]].astype(np.float64) if self._starts else None
            )
            descent = Descent(self._examples, problems, self._scaling, start)
            fits = descent.solve(cost, self._tolerance)
            self.unconverged += int((~fits.converged).sum())
            parts.append(descent.solve(cost, SHARPER * self._tolerance))
        return np.hstack([part.weights for part in parts]), np.hstack([part.remaining for part in parts])

    def _descend(self, group: Codes, costs: Sequence[float], best: Doubles, winner: Codes) -> None:
        problems = Problems(np.tile(group, FOLDS), np.repeat(np.arange(FOLDS), len(group)))
        positive, total = self._examples.count(problems)
        problems = problems.take(np.flatnonzero((positive > 0) & (positive < total)))
        descent = Descent(self._examples, problems, self._scaling)
        for number, cost in enumerate(costs):
            fits = descent.solve(cost, self._tolerance)
            self.unconverged += int((~fits.converged).sum())
            for fold in range(FOLDS):
                columns = np.flatnonzero(problems.held_out == fold)
                labels = problems.positive[columns]
                self._starts[cost][:, labels - self._labels[0]] += fits.weights[:, columns] / FOLDS
                rows, values = self._examples.decide(fits.weights[:, columns], fold)
                _challenge(best[number, rows], winner[number, rows], values, labels)

    def _set_one_class(self, winner: Codes) -> None:
        for fold in range(FOLDS):
            held_out = self._examples.folds == fold
            left = np.unique(self._examples.classes[~held_out])
            if len(left) == 1:
                winner[:, held_out] = left[0]
                self.one_class_fits += len(winner)

    def _groups(self, folds: int) -> list[Codes]:
        # As many labels at a time as their flags of active examples and their sums have room for.
        column = len(self._examples) + 8 * self._examples.width * (12 + LANES * folds)
        count = max(1, GROUP_BYTES // (folds * column))
        return [self._labels[first : first + count] for first in range(0, len(self._labels), count)]


def _challenge(best: Doubles, winner: Codes, values: Doubles, labels: Codes) -> None:
    # Labels whose value is greater than the best so far win.
    if not len(labels):
        return
    first = values.argmax(axis=1)
    value = values[np.arange(len(values)), first]
    wins = value > best
    best[wins], winner[wins] = value[wins], labels[first[wins]]


def _decide(
    test: Vectors, weights: Doubles, remaining: Doubles, intercept: bool
) -> tuple[Codes, Doubles, int]:
    # Classes, decision values and the number of predictions that the remaining gradients leave open.
    chosen, decisions = np.zeros(len(test), dtype=np.int64), np.zeros(len(test))
    open_count = 0
    for first in range(0, len(test), ROWS):
        rows = test[first : first + ROWS].astype(np.float64)
        values = rows @ weights[: rows.shape[1]] + (weights[-1] if intercept else 0.0)
        bounds = np.sqrt((rows**2).sum(axis=1) + intercept)[:, None] * remaining
        if values.shape[1] == 1:  # of two classes the first has the decision value 0
            values, bounds = (np.hstack([np.zeros_like(one), one]) for one in (values, bounds))
        every = np.arange(len(rows))
        best = values.argmax(axis=1)
        others = values + bounds
        others[every, best] = -np.inf
        open_count += int((others.max(axis=1) >= (values - bounds)[every, best]).sum())
        chosen[first : first + ROWS] = best
        two = len(weights.T) == 1
        decisions[first : first + ROWS] = np.abs(values[:, 1]) if two else values[every, best]
    return chosen, decisions, open_count


def _predict_one(only: int, count: int, grid: Sequence[float] | None) -> Predictions:
    scores = np.full(len(grid or ()), np.nan)
    values = np.full(count, only, dtype=np.int64)
    return Predictions(values, np.zeros(count), (choose_cost(grid, scores),), scores, one_class_fits=1)
