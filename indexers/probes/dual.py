"""Linear models whose dual variables lie in boxes (hinge loss, absolute error), solved to the tolerance.

Both probes minimise ½‖w‖² + C Σ loss(w·x, t) over w. In the dual each training example has one variable
between two bounds: hinge has t = ±1 and 0 ≤ t β ≤ C, absolute error -C ≤ β ≤ C; w is Σ β x. An example with
both bounds at 0 takes no part, so that a fold needs no copy of the vectors.

liblinear and lightning change one variable after the other, which takes thousands of passes where C is large.
Here the problem is solved by the method of multipliers (Rockafellar 1976) with Newton steps: with a
penalty on the distance of β from the last β, w has a differentiable objective that is quadratic between
breakpoints; a Newton step solves a system of the examples strictly between their bounds alone, at most
about as many as there are dimensions, and the step's length is found exactly. The penalty shrinks until the
violation of the optimum's conditions is within the tolerance. Of up to about 2,900 papers the products of
all pairs are computed once for all problems (`pairs`), and changing one variable after the other
(`one_by_one`) goes first: it ends where C is small. The optimum is one, so whoever solves the
problem within a tolerance gives nearly the same predictions.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from pinakes.indexers.probes.one_by_one import change_one_by_one
from pinakes.indexers.probes.pairs import Numbers, Pairs
from pinakes.indexers.probes.rows import Rows
from pinakes.jit import jit

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
NOTHING: Final = 1e-16
"""of the objective's terms: a step that lowers it by less is rounding's"""


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """A problem: what is minimised is ½‖Σ β x‖² - Σ β t over lower <= β <= upper.

    Attributes:
        targets: t (n,): ±1, or the numbers.
        lower: the bounds (n,); both are 0 where an example is held out.
        upper: the same.
        limit: C.
        unit: of the targets, in which widths and violations are measured.
        by_class: whether the violation is the largest above 0 of the gradient by the variable t β minus the
            smallest below (liblinear's criterion of hinge), or the mean of all (its one of absolute error).
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
            return float(max(signed.max(), 0.0) - min(signed.min(), 0.0)) / self.unit
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
    variables = np.clip(start.variables, boxes.lower, boxes.upper)
    fit = Fit(start.weights, variables, start.values)
    if (
        variables == start.variables
    ).all():  # a larger C that changes nothing has the same scores, to the bit
        fit.violation = boxes.measure_violation(fit.values, fit.variables)
        if fit.violation <= tolerance:
            return fit
    if rows.pairs is None:
        _narrow(rows, boxes, fit, tolerance, max_steps)
        return fit
    fit.weights = start.variables
    if max_steps > 1:
        _start_by_pairs(rows.pairs, boxes, fit, tolerance)
    if fit.violation > tolerance:
        _narrow(rows.pairs, boxes, fit, tolerance, max_steps)
    fit.weights = rows.combine(fit.variables)
    return fit


def _start_by_pairs(pairs: Pairs, boxes: Boxes, fit: Fit, tolerance: float) -> None:
    """Move the fit as far as changing one variable after the other moves it quickly."""
    bounds, enough = (boxes.lower, boxes.upper), EXACTNESS * tolerance * boxes.unit
    change_one_by_one(pairs.products, boxes.targets, bounds, fit.variables, boxes.by_class, enough)
    fit.weights = fit.variables
    fit.values = pairs.project(fit.variables)
    fit.violation = boxes.measure_violation(fit.values, fit.variables)


def _narrow(space: Rows | Pairs, boxes: Boxes, fit: Fit, tolerance: float, max_steps: int) -> None:
    """Move the fit to the optimum, with a smaller and smaller penalty."""
    width = FIRST_WIDTH * boxes.unit
    while True:
        enough = EXACTNESS * tolerance * boxes.unit
        _solve_penalised(space, boxes, fit, boxes.limit / width, enough, max_steps)
        fit.violation = boxes.measure_violation(fit.values, fit.variables)
        if fit.violation <= tolerance or fit.steps >= max_steps or width < NARROWEST * boxes.unit:
            return
        width *= NARROWER


def _solve_penalised(
    space: Rows | Pairs, boxes: Boxes, fit: Fit, stiffness: float, enough: float, max_steps: int
) -> None:
    """Move the fit to the optimum with a penalty of |β - last β|² / (2 stiffness)."""
    centre, bounds = fit.variables, (boxes.lower, boxes.upper)
    while True:
        wanted = centre + stiffness * (boxes.targets - fit.values)
        fit.variables = np.clip(wanted, *bounds)
        gradient = space.measure_gradient(fit.weights, fit.variables)
        left = space.longest * gradient.length
        rounding = ROUNDING * space.longest**2 * float(np.abs(fit.variables).sum())
        if left <= max(enough, rounding) or fit.steps >= max_steps:
            break
        fit.steps += 1
        between = np.flatnonzero((fit.variables > boxes.lower) & (fit.variables < boxes.upper))
        direction = space.find_direction(gradient, between, stiffness)
        quadratic = space.multiply(fit.weights, fit.values, direction), direction.square
        length = _find_length(wanted, direction.change, bounds, stiffness, quadratic)
        gain = length * (float(direction.change @ fit.variables) - quadratic[0])
        if gain <= NOTHING * float(np.abs(fit.variables) @ np.abs(boxes.targets)):
            break
        fit.weights = fit.weights + length * direction.step
        fit.values = fit.values + length * direction.change
    fit.weights = fit.weights - gradient.gradient
    fit.values = space.project(fit.weights)


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
