"""Linear classifiers with the squared hinge loss, exactly and many at once, in the primal.

Each minimises 0.5 ||w||^2 + C sum_i max(0, 1 - y_i w x_i)^2, by Newton's method on the piecewise quadratic
function (Mangasarian 2002, "A finite Newton method for classification"; Keerthi and DeCoste 2005, "A modified
finite Newton method for fast solution of large scale linear SVMs"); `steps` has its steps. Gradients are
float64, so that any tolerance can be reached. The criterion is that of liblinear's primal solver, which
scikit-learn's `LinearSVC` calls:
||gradient|| <= tolerance * min(positive, negative) / n * ||gradient at w = 0||.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.probes.nearby import find_lengths
from pinakes.indexers.probes.products import Codes, Doubles, Examples, Flags, Loss, Problems, States
from pinakes.indexers.probes.steps import Scaling, Stepper

MOST_STEPS: Final = 100
SUFFICIENT: Final = 1e-4  # of the predicted decrease (Armijo)
MOST_FOLLOWED: Final = 16  # steps whose best lengths are found together


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
        self._state: States = np.zeros((len(examples), count), dtype=np.uint8)
        self._all: Codes = np.arange(count)
        self._stepper = Stepper(examples, problems, scaling, self._state)
        self.weights: Doubles = np.zeros((examples.width, count))
        self._loss = examples.evaluate(self.weights, problems, self._state, self._all)
        self._first = np.linalg.norm(self._loss.gradient, axis=0)
        if start is not None:
            self.weights = start.copy()
            self._loss = examples.evaluate(self.weights, problems, self._state, self._all)

    def solve(self, cost: float, tolerance: float) -> Fits:
        """The weights that meet the criterion for `cost`; O(steps n D c)."""
        target = tolerance * self._share * cost * self._first
        stuck = np.zeros(len(target), dtype=np.bool_)
        for _ in range(MOST_STEPS):
            going = np.flatnonzero((self._remaining(cost) > target) & ~stuck)
            if not len(going):
                break
            gradient = self.weights[:, going] + cost * self._loss.gradient[:, going]
            steps = self._stepper.find(going, self.weights[:, going], gradient, cost, target[going])
            stuck[going] = ~self._walk(going, steps, cost)
        remaining = self._remaining(cost)
        return Fits(self.weights.copy(), remaining, remaining <= target)

    def _remaining(self, cost: float) -> Doubles:
        norms: Doubles = np.linalg.norm(self.weights + cost * self._loss.gradient, axis=0)
        return norms

    def _walk(self, going: Codes, steps: Doubles, cost: float) -> Flags:
        # Takes each step, as it is or as long as is best; False where none makes the function smaller.
        before, loss = self.weights[:, going], self._loss.take(going)
        gradient = before + cost * loss.gradient
        bound = _value(before, loss, cost) + SUFFICIENT * (gradient * steps).sum(axis=0)
        size = np.linalg.norm(gradient, axis=0)
        good = self._move(going, before + steps, cost, bound, size)
        far = np.flatnonzero(~good)
        for first in range(0, len(far), MOST_FOLLOWED):
            part = far[first : first + MOST_FOLLOWED]
            columns, start, step = going[part], before[:, part], steps[:, part]
            short, rate = self._examples.follow(start, step, self._problems.take(columns))
            slope, square = (start * step).sum(axis=0), (step**2).sum(axis=0)
            point = start + find_lengths(short, rate, cost, slope, square) * step
            value = _value(start, loss.take(part), cost)
            good[part] = self._move(columns, point, cost, value, size[part])
        return good

    def _move(self, columns: Codes, point: Doubles, cost: float, bound: Doubles, size: Doubles) -> Flags:
        # Evaluates at `point`; whether the value is below its bound or the gradient half of its size.
        new = self._examples.evaluate(point, self._problems.take(columns), self._state, columns)
        self.weights[:, columns] = point
        self._loss.value[columns], self._loss.gradient[:, columns] = new
        smaller = np.linalg.norm(point + cost * new.gradient, axis=0) <= 0.5 * size
        good: Flags = (_value(point, new, cost) <= bound) | smaller
        return good


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
