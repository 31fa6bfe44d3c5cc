"""The products of all pairs of training vectors: for a moderate number of papers these are all that counts.

Weights are then held as a coefficient for each example (n,), whose sum of vectors they are, so that no step
depends on the number of dimensions.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.probes.systems import solve
from pinakes.jit import jit

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Gradient:
    """What weights lack of the sum of vectors that the variables make: the objective's gradient.

    Attributes:
        gradient: in the weights' own form.
        projected: the same, or its decision values (n,) where the products of pairs are used.
        length: its Euclidean norm.
    """

    gradient: Numbers
    projected: Numbers
    length: float


@dataclass(frozen=True, slots=True, eq=False)
class Direction:
    """A step: in the weights' own form, its decision values (n,), and the square of its Euclidean norm."""

    step: Numbers
    change: Numbers
    square: float


class Pairs:
    """The products of rows (n, d) in double precision."""

    def __init__(self, rows: Numbers) -> None:
        self.products = rows @ rows.T
        self.longest = float(np.sqrt(np.max(self.products.diagonal(), initial=0.0)))

    def project(self, coefficients: Numbers) -> Numbers:
        """The decision value (n,) of every row, of weights with these coefficients."""
        return _sum_rows(self.products, coefficients)

    def measure_gradient(self, coefficients: Numbers, variables: Numbers) -> Gradient:
        """What the coefficients lack of the variables."""
        gradient = coefficients - variables
        projected = self.project(gradient)
        return Gradient(gradient, projected, float(np.sqrt(max(float(gradient @ projected), 0.0))))

    def find_direction(self, gradient: Gradient, between: NDArray[np.intp], stiffness: float) -> Direction:
        """Newton's step, as `Rows.find_direction` has it."""
        chosen = np.zeros(len(gradient.gradient))
        system = _gather_pairs(self.products, between)
        chosen[between] = solve(system, gradient.projected[between], 1.0 / stiffness)
        step = chosen - gradient.gradient
        change = self.project(chosen) - gradient.projected
        return Direction(step, change, max(float(step @ change), 0.0))

    def multiply(self, weights: Numbers, values: Numbers, direction: Direction) -> float:
        """The product of the weights, whose decision values are given, with the step."""
        return float(values @ direction.step)


@jit
def _sum_rows(products: Numbers, coefficients: Numbers) -> Numbers:
    total = np.zeros(products.shape[1])
    for row in range(products.shape[0]):
        coefficient = coefficients[row]
        if coefficient != 0.0:
            for column in range(products.shape[1]):
                total[column] += coefficient * products[row, column]
    return total


@jit
def _gather_pairs(products: Numbers, rows: NDArray[np.intp]) -> Numbers:
    count = rows.shape[0]
    system = np.empty((count, count))
    for first in range(count):
        for second in range(count):
            system[first, second] = products[rows[first], rows[second]]
    return system
