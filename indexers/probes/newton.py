"""Linear classifiers with the squared hinge loss, exactly and many at once, in the primal.

minimise 0.5 ||w||^2 + C sum_i max(0, 1 - y_i w x_i)^2 for each column: Newton's method on the piecewise
quadratic function (Mangasarian 2002, "A finite Newton method for classification"; Keerthi and DeCoste 2005),
its steps by preconditioned conjugate gradients, all columns in the same passes over the vectors. Gradients are
float64, so that any tolerance can be reached; the products of the steps are float32. The criterion is that of
liblinear's primal solver, which scikit-learn's `LinearSVC` calls:
||gradient|| <= tolerance * min(positive, negative) / n * ||gradient at w = 0||.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.probes.products import Codes, Doubles, Examples, Flags, Loss, Problems
from pinakes.indexers.probes.steps import Scaling, Stepper

MOST_STEPS: Final = 100
SUFFICIENT: Final = 1e-4  # of the predicted decrease (Armijo)
MOST_HALVINGS: Final = 30


class Fits(NamedTuple):
    """Weights (D, c), the norm of the gradient that remains (c,), and whether it meets the criterion (c,)."""

    weights: Doubles
    remaining: Doubles
    converged: Flags


class Descent:
    """Problems at their current weights, which `solve` brings to the optimum for one C after the other.

    Each starts where the one before ended; costs that rise need the fewest steps.
    """

    def __init__(
        self, examples: Examples, problems: Problems, scaling: Scaling, start: Doubles | None = None
    ) -> None:
        self._examples, self._problems = examples, problems
        count = len(problems.positive)
        positive, total = examples.count(problems)
        self._share = np.maximum(np.minimum(positive, total - positive), 1) / np.maximum(total, 1)
        self._active: Flags = np.zeros((len(examples), count), dtype=np.bool_)
        self._all: Codes = np.arange(count)
        self._stepper = Stepper(examples, problems, scaling, self._active)
        self.weights: Doubles = np.zeros((examples.width, count))
        self._loss = examples.evaluate(self.weights, problems, self._active, self._all)
        self._first = np.linalg.norm(self._loss.gradient, axis=0)
        if start is not None:
            self.weights = start.copy()
            self._loss = examples.evaluate(self.weights, problems, self._active, self._all)

    def solve(self, cost: float, tolerance: float) -> Fits:
        """The weights that meet the criterion for `cost`; O(steps n D c)."""
        target = tolerance * self._share * cost * self._first
        stuck = np.zeros(len(target), dtype=np.bool_)
        for _ in range(MOST_STEPS):
            going = np.flatnonzero((self._remaining(cost) > target) & ~stuck)
            if not len(going):
                break
            gradient = self.weights[:, going] + cost * self._loss.gradient[:, going]
            steps = self._stepper.find(going, gradient, cost, target[going])
            stuck[going] = ~self._walk(going, steps, cost)
        remaining = self._remaining(cost)
        return Fits(self.weights.copy(), remaining, remaining <= target)

    def _remaining(self, cost: float) -> Doubles:
        norms: Doubles = np.linalg.norm(self.weights + cost * self._loss.gradient, axis=0)
        return norms

    def _walk(self, going: Codes, steps: Doubles, cost: float) -> Flags:
        # Takes each step, shortened until the function is small enough; False where none was found.
        before, loss = self.weights[:, going], self._loss.take(going)
        slope = ((before + cost * loss.gradient) * steps).sum(axis=0)
        value = _value(before, loss, cost)
        size = np.linalg.norm(before + cost * loss.gradient, axis=0)
        length = np.ones(len(going))
        trying: Codes = np.arange(len(going))
        for _ in range(MOST_HALVINGS):
            columns = going[trying]
            point = before[:, trying] + length[trying] * steps[:, trying]
            new = self._examples.evaluate(point, self._problems.take(columns), self._active, columns)
            self.weights[:, columns] = point
            self._loss.value[columns], self._loss.gradient[:, columns] = new
            gradient = point + cost * new.gradient
            bound = value[trying] + SUFFICIENT * length[trying] * slope[trying]
            good = (_value(point, new, cost) <= bound) | (
                np.linalg.norm(gradient, axis=0) <= 0.5 * size[trying]
            )
            end_slope = (gradient * steps[:, trying]).sum(axis=0)
            # The derivative along the step is piecewise linear and rises: next where its chord is 0.
            chord = slope[trying] / (slope[trying] - end_slope)
            length[trying] *= np.where((chord > 0.05) & (chord < 0.95), chord, 0.5)
            trying = trying[~good]
            if not len(trying):
                break
        found = np.ones(len(going), dtype=np.bool_)
        found[trying] = False
        return found


def _value(weights: Doubles, loss: Loss, cost: float) -> Doubles:
    value: Doubles = 0.5 * (weights**2).sum(axis=0) + cost * loss.value
    return value


def rotate(vectors: NDArray[np.float32], intercept: bool) -> tuple[Doubles, Doubles]:
    """Coordinates (n, n) of fewer vectors than dimensions, and the basis (D, n) that brings weights back.

    The optimum lies in the space that the examples span: with X^T = Q R, w = Q v where v is the optimum of
    R^T. The intercept's feature is within.
    """
    rows = vectors.astype(np.float64)
    if intercept:
        rows = np.hstack([rows, np.ones((len(rows), 1))])
    basis, coordinates = np.linalg.qr(rows.T)
    return np.ascontiguousarray(coordinates.T), basis
