"""A logistic regression over features of sentences, whose C is chosen on folds of whole papers.

The loss is scikit-learn's: |w|^2 / 2 + C * sum of the log losses, with an intercept that is not penalised,
over features of mean 0 and deviation 1; solved by Newton's method. Sums are taken without BLAS,
so that no number of threads changes a bit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import IndexingError

Matrix = NDArray[np.float64]

Measure = Callable[[Matrix], float]
"""gives what scores of all training sentences (n,) are worth: higher is better"""

GRID: Final = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
MOST_STEPS: Final = 100
TOLERANCE: Final = 1e-10
ROWS_AT_ONCE: Final = 65_536


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
    folds = np.unique(examples.folds)
    scores = [measure(_cross_fit(examples, c, folds)) if len(folds) > 1 else 0.0 for c in grid]
    best = int(np.argmax(scores))
    model, steps = fit(examples.features, examples.labels, grid[best])
    choices = [
        Choice(c, score, steps if place == best else 0, place == best)
        for place, (c, score) in enumerate(zip(grid, scores, strict=True))
    ]
    return model, choices


def _cross_fit(examples: Examples, c: float, folds: NDArray[np.intp]) -> Matrix:
    """The score of each sentence (n,) by a model that never saw its paper."""
    found = np.zeros(len(examples.labels))
    for fold in folds:
        held = examples.folds == fold
        labels = examples.labels[~held]
        if labels.any() and not labels.all():
            found[held] = fit(examples.features[~held], labels, c)[0].score(examples.features[held])
    return found


def fit(features: Matrix, labels: NDArray[np.bool_], c: float) -> tuple[LogisticModel, int]:
    """The regression at its optimum, and the steps. Raises `IndexingError` where it does not converge."""
    means, deviations = features.mean(axis=0), features.std(axis=0)
    deviations = np.where(deviations > 0, deviations, 1.0)
    scaled = np.column_stack([(features - means) / deviations, np.ones(len(features))])
    signs = np.where(labels, 1.0, -1.0)
    penalty = np.append(np.ones(features.shape[1]), 0.0)
    weights = np.zeros(scaled.shape[1])
    value, gradient, curvature = _differentiate(scaled, signs, weights, c, penalty)
    for step in range(1, MOST_STEPS + 1):
        change = np.linalg.solve(curvature, gradient)
        decrement = float(np.sum(gradient * change))
        if decrement <= TOLERANCE * (1 + abs(value)):
            return LogisticModel(weights[:-1], float(weights[-1]), means, deviations), step
        size = 1.0
        while True:
            tried = weights - size * change
            found = _differentiate(scaled, signs, tried, c, penalty)
            if found[0] <= value - 1e-4 * size * decrement or size < 1e-9:
                break
            size /= 2
        weights, (value, gradient, curvature) = tried, found
    raise IndexingError(f"the logistic regression with C {c} did not converge in {MOST_STEPS} steps")


def _differentiate(
    scaled: Matrix, signs: Matrix, weights: Matrix, c: float, penalty: Matrix
) -> tuple[float, Matrix, Matrix]:
    """The loss at the weights (f + 1,), its gradient and its curvature (f + 1, f + 1)."""
    value = float(np.sum(penalty * weights**2)) / 2
    gradient, curvature = penalty * weights, np.diag(penalty)
    for first in range(0, len(scaled), ROWS_AT_ONCE):
        part, sign = scaled[first : first + ROWS_AT_ONCE], signs[first : first + ROWS_AT_ONCE]
        margins = sign * np.einsum("nf,f->n", part, weights)
        value += c * float(np.sum(np.logaddexp(0.0, -margins)))
        missed = np.exp(-np.logaddexp(0.0, margins))  # 1 - the probability of the right label
        gradient = gradient - c * np.einsum("nf,n->f", part, sign * missed)
        slopes = c * missed * (1 - missed)
        curvature = curvature + np.einsum("nf,ng->fg", part, part * slopes[:, None], optimize=False)
    return value, gradient, curvature
