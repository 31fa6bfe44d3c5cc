"""The regression: a linear model of the least absolute error (a support vector regression with epsilon 0).

As SciRepEval's evaluator has it: GridSearchCV(LinearSVR(random_state=42)), scored by R².
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import IndexingError
from pinakes.indexers.probes.base import FEW_SHOT_C, FOLDS, Predictions, Rules, Vectors, check_examples
from pinakes.indexers.probes.dual import Boxes
from pinakes.indexers.probes.lightning_svr import fit_as_lightning
from pinakes.indexers.probes.pairs import Numbers
from pinakes.indexers.probes.rows import Rows
from pinakes.indexers.probes.search import (
    choose_first_best,
    decide,
    fit_last,
    fit_path,
    quiet_about,
    run_all,
)

Rowset = NDArray[np.intp]


def predict_numbers(
    train: Vectors,
    targets: Numbers,
    test: Vectors,
    rules: Rules,
    grid: Sequence[float] | None,
    threads: int | None = None,
) -> Predictions:
    """The number of each test paper (m,), learnt from the targets (n,) of the training papers.

    C is the one with the highest mean R² over KFold(3) without shuffling, the first of equals; without a grid
    it is 1, and the grid scores are none. The same bits on any number of threads. R² is scikit-learn's: of
    constant targets it is 1 where they are met and else 0, and of a single held-out paper it is no number; no
    C has a score then, and the grid's first is taken. Numbers have no threshold, so none is open.

    Rules with `lightning_regression` give what lightning 0.6.2 gives, whose steps solve no stated problem
    (see `lightning_svr`): the published figures, and worse predictions. No intercept is trained then.

    Raises:
        IndexingError: shapes that do not meet, values that are not finite, a grid that is none, or fewer
            training papers than folds.
    """
    check_examples(train, targets, test, grid)
    if grid and len(train) < FOLDS:
        raise IndexingError(f"{len(train)} training papers; a search for C over {FOLDS} folds needs {FOLDS}")
    targets = np.asarray(targets, dtype=np.float64)
    probe: _Dual | _Lightning
    if rules.lightning_regression:
        probe = _Lightning((train, targets), rules)
    else:
        probe = _Dual(Rows(train, rules.intercept), targets, rules)
    folds = _split(len(train)) if grid else []
    found = run_all(probe.search, [(held_out, tuple(grid or ())) for held_out in folds], threads)
    scores = np.column_stack([scores for scores, _ in found]) if found else np.empty((0, FOLDS))
    best, means = choose_first_best(scores) if grid else (0, np.empty(0))
    chosen = tuple(grid or (FEW_SHOT_C,))[best]
    ((weights, last),) = run_all(probe.refit, [chosen], threads)
    values = decide(test, rules.intercept, weights[:, np.newaxis])[0][:, 0]
    unconverged = sum(count for _, count in found) + last
    return Predictions(values, values, (float(chosen),), means, unconverged=unconverged)


@dataclass(frozen=True, slots=True, eq=False)
class _Dual:
    rows: Rows
    targets: Numbers
    rules: Rules

    def search(self, path: tuple[Rowset, tuple[float, ...]]) -> tuple[Numbers, int]:
        """R² of each C on the rows that are held out, and how many of its fits did not converge."""
        held_out, grid = path
        make_boxes = functools.partial(self._make_boxes, held_out=held_out)
        scores, unconverged = np.empty(len(grid)), 0
        fits = fit_path(self.rows, make_boxes, grid, self.rules.tolerance, self.rules.max_epochs)
        for number, fit in enumerate(fits):
            scores[number] = _score(self.targets[held_out], fit.values[held_out])
            unconverged += int(fit.violation > self.rules.tolerance)
        return scores, unconverged

    def refit(self, limit: float) -> tuple[Numbers, int]:
        """The weights of all papers, and whether they are not to the tolerance."""
        fit, _ = fit_last(self.rows, self._make_boxes, limit, self.rules.tolerance, self.rules.max_epochs)
        return fit.weights, int(fit.violation > self.rules.tolerance)

    def _make_boxes(self, limit: float, held_out: Rowset | None = None) -> Boxes:
        upper = np.full(len(self.targets), limit)
        known = self.targets
        if held_out is not None:
            upper[held_out] = 0.0
            known = np.delete(known, held_out)
        unit = float(np.abs(known - np.median(known)).mean()) or float(np.abs(known).max()) or 1.0
        return Boxes(self.targets, -upper, upper, limit, unit, by_class=False)


@dataclass(frozen=True, slots=True, eq=False)
class _Lightning:
    examples: tuple[Vectors, Numbers]
    rules: Rules

    def search(self, path: tuple[Rowset, tuple[float, ...]]) -> tuple[Numbers, int]:
        """R² of each C on the rows that are held out, and how many of its fits did not converge."""
        held_out, grid = path
        vectors, targets = self.examples
        trained = np.delete(np.arange(len(targets)), held_out)
        weights, unconverged = fit_as_lightning(self.examples, trained, grid, self.rules)
        decisions, _ = decide(vectors[held_out], False, weights)
        return np.array([_score(targets[held_out], column) for column in decisions.T]), unconverged

    def refit(self, limit: float) -> tuple[Numbers, int]:
        """The weights of all papers, and whether they are not to the tolerance."""
        every = np.arange(len(self.examples[1]))
        weights, unconverged = fit_as_lightning(self.examples, every, [limit], self.rules)
        return weights[:, 0], unconverged


def _split(count: int) -> list[Rowset]:
    from sklearn.model_selection import KFold

    return [held_out for _, held_out in KFold(FOLDS).split(np.empty(count))]


def _score(known: Numbers, predicted: Numbers) -> float:
    from sklearn.metrics import r2_score

    with quiet_about("R.2 score is not well-defined"):
        return float(r2_score(known, predicted))
