"""Linear models whose dual variables lie in boxes (hinge loss, absolute error), solved to the tolerance.

Both probes minimise ½‖w‖² + C Σ loss(w·x, t) over w. In the dual each training example has one variable
between two bounds: hinge has t = ±1 and 0 ≤ t β ≤ C, absolute error -C ≤ β ≤ C; w is Σ β x. An example with
both bounds at 0 takes no part, so that a fold needs no copy of the vectors.

liblinear and lightning change one variable after the other, which takes thousands of passes where C is large.
Here the problem is solved by the method of multipliers (Rockafellar 1976) with Newton steps: with a
penalty on the distance of β from the last β, w has a differentiable objective that is quadratic between
breakpoints; a Newton step solves a system of the examples strictly between their bounds alone, at most
about as many as there are dimensions, and the step's length is found exactly. The penalty shrinks until the
violation of the optimum's conditions is within the tolerance. The optimum is one, so whoever solves the
problem within a tolerance gives nearly the same predictions.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dtrsv

from pinakes.errors import IndexingError
from pinakes.indexers.probes.base import Vectors
from pinakes.indexers.probes.cholesky import factorise
from pinakes.jit import jit

Numbers = NDArray[np.float64]

BLOCK: Final = 512
"""rows that are widened to float64 at once; fixed, since it decides the order of sums"""
KEPT_BYTES: Final = 32 * 2**20
"""widened rows that stay in memory; of a larger matrix none stay"""
FIRST_WIDTH: Final = 0.1
"""the first penalty: violations up to this many units may leave a variable between its bounds"""
NARROWER: Final = 0.3
"""what the width is multiplied by until the tolerance is met"""
EXACTNESS: Final = 0.1
"""the share of the tolerance that Newton's steps may leave"""
NARROWEST: Final = 1e-10
"""units: no penalty is smaller; a violation that is left then is rounding's"""
ROUNDING: Final = 4e-16
"""of the sum of all products that make up a decision value: what no step makes smaller"""
PATIENCE: Final = 30
"""steps without a smaller gradient, after which rounding is taken to be all that is left"""
RIDGE: Final = 1e-12
"""of the largest diagonal element: keeps a system of equal rows solvable"""


class Rows:
    """The training vectors (n, d) in double precision, block by block, with the constant feature if asked.

    Raises:
        IndexingError: a value is not finite.
    """

    def __init__(self, vectors: Vectors, intercept: bool) -> None:
        self.vectors = vectors
        self.intercept = intercept
        self.count, self.dimensions = len(vectors), vectors.shape[1] + intercept
        self.starts = range(0, self.count, BLOCK)
        kept = self.count * self.dimensions * 8 <= KEPT_BYTES
        self._blocks = [self._widen(start) for start in self.starts] if kept else None
        squares = [np.einsum("ij,ij->i", block, block).max() for block in map(self.block, self.starts)]
        self.longest = float(np.sqrt(max(squares, default=0.0)))
        if not np.isfinite(self.longest):
            raise IndexingError("a vector of a training paper has a value that is no finite number")

    def block(self, start: int) -> Numbers:
        """The rows from `start` on, `BLOCK` at most."""
        return self._widen(start) if self._blocks is None else self._blocks[start // BLOCK]

    def gather(self, rows: NDArray[np.intp]) -> Numbers:
        """These rows, in this order."""
        return widen(self.vectors[rows], self.intercept)

    def project(self, weights: Numbers) -> Numbers:
        """The decision value (n,) of every row."""
        return np.concatenate([self.block(start) @ weights for start in self.starts])

    def combine(self, variables: Numbers) -> Numbers:
        """The sum of the rows, each times its variable (d,)."""
        total = np.zeros(self.dimensions)
        for start in self.starts:
            total += variables[start : start + BLOCK] @ self.block(start)
        return total

    def _widen(self, start: int) -> Numbers:
        return widen(self.vectors[start : start + BLOCK], self.intercept)


def widen(vectors: Vectors, intercept: bool) -> Numbers:
    """The vectors in double precision, with a last feature of 1 where there is an intercept.

    >>> widen(np.array([[2.0, 3.0]], dtype=np.float32), intercept=True).tolist()
    [[2.0, 3.0, 1.0]]
    """
    wide = np.ones((len(vectors), vectors.shape[1] + intercept))
    wide[:, : vectors.shape[1]] = vectors
    return wide


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """A problem: what is minimised is ½‖Σ β x‖² - Σ β t over lower <= β <= upper.

    Attributes:
        targets: t (n,): ±1, or the numbers.
        lower: the bounds (n,); both are 0 where an example is held out.
        upper: the same.
        limit: C.
        unit: of the targets, in which widths and violations are measured.
        by_class: whether the violation is the largest of the gradient by the variable t β minus the smallest
            (liblinear's criterion of hinge), or the mean of all (its criterion of absolute error).
    """

    targets: Numbers
    lower: Numbers
    upper: Numbers
    limit: float
    unit: float
    by_class: bool

    def measure_gap(self, fit: "Fit") -> float:
        """By how much the objective at the fit's weights is above its least value, at most (duality gap)."""
        left = self.targets - fit.values
        # What the loss costs: the bound on the side of the residual, times the residual.
        losses = np.maximum(self.upper * left, self.lower * left)
        return float(fit.weights @ fit.weights + losses.sum() - fit.variables @ self.targets)

    def measure_violation(self, values: Numbers, variables: Numbers) -> float:
        """How far variables with these decision values are from the optimum's conditions, in units."""
        gradient = values - self.targets
        gradient[(variables <= self.lower) & (gradient > 0)] = 0.0
        gradient[(variables >= self.upper) & (gradient < 0)] = 0.0
        taking_part = self.lower < self.upper
        gradient = gradient[taking_part]
        if not len(gradient):
            return 0.0
        if self.by_class:
            signed = gradient * self.targets[taking_part]
            return float(signed.max() - signed.min()) / self.unit
        return float(np.abs(gradient).mean()) / self.unit


@dataclass(slots=True, eq=False)
class Fit:
    """A solution, and where the next one starts from.

    Attributes:
        weights: w (d,), the last of them the intercept if there is one.
        variables: β (n,).
        values: w·x of every row (n,), of held-out rows too.
        violation: of the optimum's conditions, in units.
        steps: Newton steps that it took.
    """

    weights: Numbers
    variables: Numbers
    values: Numbers
    violation: float = np.inf
    steps: int = 0


def start_fit(rows: Rows) -> Fit:
    """The solution before the first example: all zero."""
    return Fit(np.zeros(rows.dimensions), np.zeros(rows.count), np.zeros(rows.count))


def fit_boxes(rows: Rows, boxes: Boxes, start: Fit, tolerance: float, max_steps: int) -> Fit:
    """The solution of one problem; `start` is any other's of the same rows, a smaller C's best.

    A violation above the tolerance says that `max_steps` ended it. Every sum has a fixed order on one thread
    of BLAS.
    """
    fit = Fit(start.weights, np.clip(start.variables, boxes.lower, boxes.upper), start.values)
    width = FIRST_WIDTH * boxes.unit
    while True:
        _solve_penalised(rows, boxes, fit, boxes.limit / width, tolerance, max_steps)
        fit.violation = boxes.measure_violation(fit.values, fit.variables)
        if fit.violation <= tolerance or fit.steps >= max_steps or width < NARROWEST * boxes.unit:
            return fit
        width *= NARROWER


def _solve_penalised(
    rows: Rows, boxes: Boxes, fit: Fit, stiffness: float, tolerance: float, max_steps: int
) -> None:
    """Move the fit to the optimum with a penalty of |β - last β|² / (2 stiffness)."""
    centre = fit.variables
    least, waited = np.inf, 0
    while True:
        wanted = centre + stiffness * (boxes.targets - fit.values)
        fit.variables = np.clip(wanted, boxes.lower, boxes.upper)
        gradient = fit.weights - rows.combine(fit.variables)
        left = rows.longest * float(np.linalg.norm(gradient))
        rounding = ROUNDING * rows.longest**2 * float(np.abs(fit.variables).sum())
        waited = 0 if left < least else waited + 1
        least = min(left, least)
        enough = left <= max(EXACTNESS * tolerance * boxes.unit, rounding)
        if enough or waited > PATIENCE or fit.steps >= max_steps:
            break
        fit.steps += 1
        between = np.flatnonzero((fit.variables > boxes.lower) & (fit.variables < boxes.upper))
        direction = _find_direction(rows.gather(between), gradient, stiffness)
        change = rows.project(direction)
        length = _find_length(
            wanted, change, (boxes.lower, boxes.upper), stiffness,
            (float(fit.weights @ direction), float(direction @ direction)),
        )  # fmt: skip
        if length == 0.0:
            break
        fit.weights = fit.weights + length * direction
        fit.values = fit.values + length * change
    fit.weights = fit.weights - gradient
    fit.values = rows.project(fit.weights)


def _find_direction(between: Numbers, gradient: Numbers, stiffness: float) -> Numbers:
    """Newton's: minus the inverse of (I + stiffness XᵀX) times the gradient, by the smaller system."""
    count, dimensions = between.shape
    if not count:
        return -gradient
    if count >= dimensions:
        return _solve(between.T, gradient / -stiffness, 1.0 / stiffness)
    return between.T @ _solve(between, between @ gradient, 1.0 / stiffness) - gradient


def _solve(factor: Numbers, right: Numbers, ridge: float) -> Numbers:
    """The solution x of (F Fᵀ + ridge I) x = right; rounding may ask for a larger ridge."""
    while True:
        system = factor @ factor.T
        ridge = max(ridge, RIDGE * float(system.diagonal().max()))
        system.flat[:: len(system) + 1] += ridge
        if factorise(system):
            lower = system.T  # as Fortran has it
            solution: Numbers = dtrsv(lower, dtrsv(lower, right, lower=1), lower=1, trans=1)
            return solution
        ridge *= 100.0


@jit
def _find_length(
    wanted: Numbers,
    change: Numbers,
    bounds: tuple[Numbers, Numbers],
    stiffness: float,
    quadratic: tuple[float, float],
) -> float:
    """Where the objective along a direction is least: the zero of its derivative, which is piecewise linear.

    The derivative at `a` is quadratic[0] + a quadratic[1] - Σ change β(a), with β(a) = wanted - a stiffness
    change, cut to the bounds. Newton's iteration inside a bracket ends on the zero's own piece.
    """
    lower, upper = bounds
    low, high = 0.0, np.inf
    length = 1.0
    for _ in range(100):
        slope = quadratic[0] + length * quadratic[1]
        curvature = quadratic[1]
        for row in range(change.shape[0]):
            moved = wanted[row] - length * stiffness * change[row]
            if moved <= lower[row]:
                moved = lower[row]
            elif moved >= upper[row]:
                moved = upper[row]
            else:
                curvature += stiffness * change[row] * change[row]
            slope -= change[row] * moved
        if slope < 0.0:
            low = length
        else:
            high = length
        following = length - slope / curvature
        if not low < following < high:
            following = 0.5 * (low + high) if np.isfinite(high) else 2.0 * low
        if abs(following - length) <= 1e-9 * length or slope == 0.0:
            return length
        length = following
    return length
