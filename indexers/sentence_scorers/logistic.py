"""A logistic regression over features of sentences, whose C is chosen on folds of whole papers.

The loss is scikit-learn's: |w|^2 / 2 + C * sum of the log losses, with an intercept that is not penalised,
over features of mean 0 and deviation 1; solved by Newton's method. BLAS computes on one
thread, so that no number of threads changes a bit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import IndexingError
from pinakes.indexers.probes.base import one_blas_thread

Matrix = NDArray[np.float64]

Measure = Callable[[Matrix], float]
"""gives what scores of all training sentences (n,) are worth: higher is better"""

GRID: Final = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
MOST_STEPS: Final = 100
TOLERANCE: Final = 1e-10
SUFFICIENT: Final = 1e-4
"""of the decrease that the gradient promises, the share that a step must give"""
SMALLEST_STEP: Final = 1e-9
LARGEST: Final = 700.0
"""what exp is taken of at most"""


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Sentences that are trained on.

    Attributes:
        features: (n, f).
        labels: whether each is relevant (n,).
        folds: the fold of each, by its paper (n,).
    """

    features: Matrix
    labels: NDArray[np.bool_]
    folds: NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class LogisticModel:
    """Weights (f,) and intercept over features less `means` (f,), divided by `deviations` (f,)."""

    weights: Matrix
    intercept: float
    means: Matrix
    deviations: Matrix

    def score(self, features: Matrix) -> Matrix:
        """The log-odds of each sentence (n,)."""
        scaled = (features - self.means) / self.deviations
        found: Matrix = np.einsum("nf,f->n", scaled, self.weights) + self.intercept
        return found


@dataclass(frozen=True, slots=True)
class Choice:
    """A C, what held-out papers' scores are worth with it, and the steps of the last fit."""

    c: float
    fold_score: float
    steps: int
    chosen: bool


def choose_model(
    examples: Examples, measure: Measure, grid: Sequence[float] = GRID
) -> tuple[LogisticModel, list[Choice]]:
    """The model of all examples with the C whose held-out papers score best, the smallest of equal ones.

    A grid of one C, or examples of one fold, are not compared. Raises `IndexingError` where no sentence is
    relevant, or all are.
    """
    if examples.labels.all() or not examples.labels.any():
        raise IndexingError("the training examples have only one kind of label; expected relevant and others")
    scores = [measure(found) for found in _cross_fit(examples, grid)] or [0.0] * len(grid)
    best = int(np.argmax(scores))
    model, steps = fit(examples.features, examples.labels, grid[best])
    choices = [
        Choice(c, score, steps if place == best else 0, place == best)
        for place, (c, score) in enumerate(zip(grid, scores, strict=True))
    ]
    return model, choices


def _cross_fit(examples: Examples, grid: Sequence[float]) -> list[Matrix]:
    """For each C the score of each sentence (n,) by a model that never saw its paper.

    Nothing of one fold, or of one C.
    """
    folds = np.unique(examples.folds)
    if len(folds) < 2 or len(grid) < 2:
        return []
    found = [np.zeros(len(examples.labels)) for _ in grid]
    for fold in folds:
        held = examples.folds == fold
        labels = examples.labels[~held]
        if labels.all() or not labels.any():
            continue
        scaling = _scale(examples.features[~held])
        start = np.zeros(scaling.matrix.shape[1])
        for scores, c in zip(found, grid, strict=True):  # from one C to the next the optimum moves little
            start, _steps = _descend(scaling.matrix, labels, c, start)
            scores[held] = scaling.make_model(start).score(examples.features[held])
    return found


def fit(features: Matrix, labels: NDArray[np.bool_], c: float) -> tuple[LogisticModel, int]:
    """The regression at its optimum, and the steps. Raises `IndexingError` where it does not converge."""
    scaling = _scale(features)
    weights, steps = _descend(scaling.matrix, labels, c, np.zeros(scaling.matrix.shape[1]))
    return scaling.make_model(weights), steps


@dataclass(frozen=True, slots=True, eq=False)
class _Scaling:
    """Features of mean 0 and deviation 1, with a column of ones (n, f + 1), and what they were."""

    matrix: Matrix
    means: Matrix
    deviations: Matrix

    def make_model(self, weights: Matrix) -> LogisticModel:
        """The model of weights, the intercept last."""
        return LogisticModel(weights[:-1], float(weights[-1]), self.means, self.deviations)


def _scale(features: Matrix) -> _Scaling:
    means, deviations = features.mean(axis=0), features.std(axis=0)
    deviations = np.where(deviations > 0, deviations, 1.0)
    matrix = np.column_stack([(features - means) / deviations, np.ones(len(features))])
    return _Scaling(matrix, means, deviations)


def _descend(matrix: Matrix, labels: NDArray[np.bool_], c: float, start: Matrix) -> tuple[Matrix, int]:
    """Newton's method with halved steps from `start` (f + 1,): the optimum, and how many steps it took."""
    signs = np.where(labels, 1.0, -1.0)
    weights = start
    with one_blas_thread():
        value, gradient, curvature = _differentiate(matrix, signs, weights, c)
        for step in range(1, MOST_STEPS + 1):
            change = np.linalg.solve(curvature, gradient)
            decrement = float(np.sum(gradient * change))
            if decrement <= TOLERANCE * (1 + abs(value)):
                return weights, step
            size = 1.0
            while True:
                tried = weights - size * change
                found = _differentiate(matrix, signs, tried, c)
                if found[0] <= value - SUFFICIENT * size * decrement or size < SMALLEST_STEP:
                    break
                size /= 2
            weights, (value, gradient, curvature) = tried, found
    raise IndexingError(f"the logistic regression with C {c} did not converge in {MOST_STEPS} steps")


def _differentiate(matrix: Matrix, signs: Matrix, weights: Matrix, c: float) -> tuple[float, Matrix, Matrix]:
    """The loss at the weights (f + 1,), its gradient and its curvature (f + 1, f + 1)."""
    penalty = np.append(np.ones(len(weights) - 1), 0.0)
    margins = signs * (matrix @ weights)
    missed = 1 / (1 + np.exp(np.minimum(margins, LARGEST)))  # 1 - the probability of the right label
    losses = np.maximum(-margins, 0) + np.log1p(np.exp(-np.abs(margins)))
    value = float(np.sum(penalty * weights**2)) / 2 + c * float(np.sum(losses))
    gradient: Matrix = penalty * weights - c * (matrix.T @ (signs * missed))
    slopes = c * missed * (1 - missed)
    curvature: Matrix = np.diag(penalty) + matrix.T @ (matrix * slopes[:, None])
    return value, gradient, curvature
