"""Newton steps of many problems: (I + 2 C X_A^T X_A) step = -gradient, A the examples that have a loss.

Two ways, chosen by what they cost. Conjugate gradients take all problems in the same float32 passes,
preconditioned by (I + 2 C a X^T X)^-1, a the share of active examples, from one eigendecomposition. With few
active examples, or a preconditioner that serves a problem badly, factorisations of the problem's own matrix
are cheaper: of the examples that are active or near it (`nearby`), which ends at the optimum of these alone,
or of X_A^T X_A where they are many.
"""

from typing import Final, NamedTuple

import numpy as np

from pinakes.indexers.probes.nearby import fit_by_products, solve_ridge
from pinakes.indexers.probes.products import ACTIVE, Codes, Doubles, Examples, Problems, States

FORCING: Final = 0.1  # a step's system is solved until this share of the gradient remains
SHARPEST: Final = 0.3  # of the tolerance: no system is solved further
EXPECTED: Final = 8  # inner steps, before a problem has shown how many it takes
DOUBLE: Final = 2  # what float64 costs, in float32
MOST_NEAR: Final = 1.0  # times D: more examples are not brought to their own optimum
READING: Final = 8  # what a pass over the vectors costs beside its columns, in columns
GATHERED: Final = 512  # active examples at a time


class Scaling(NamedTuple):
    """X^T X = vectors diag(values) vectors^T of all examples, and their number."""

    values: Doubles
    vectors: Doubles
    examples: int

    @classmethod
    def of(cls, examples: Examples) -> "Scaling":
        """Of these examples; O(n D^2 + D^3)."""
        values, vectors = np.linalg.eigh(examples.gram())
        return cls(np.maximum(values, 0.0), vectors, len(examples))

    def apply(self, residuals: Doubles, weight: Doubles) -> Doubles:
        """(I + weight X^T X)^-1 `residuals` (D, c), of each column with its `weight` (c,)."""
        scaled = (self.vectors.T @ residuals) / (1 + self.values[:, None] * weight)
        result: Doubles = self.vectors @ scaled
        return result


class Stepper:
    """Finds the steps of some problems, and remembers how many inner steps each took."""

    def __init__(self, examples: Examples, problems: Problems, scaling: Scaling, state: States) -> None:
        self._examples, self._problems = examples, problems
        self._scaling, self._state = scaling, state
        self._inner = np.full(len(problems.positive), EXPECTED)

    def find(
        self, going: Codes, weights: Doubles, gradient: Doubles, cost: float, target: Doubles
    ) -> Doubles:
        """Steps (D, c) of the columns `going`, whose gradients (D, c) shall fall below `target` (c,)."""
        steps = np.zeros_like(gradient)
        most = self._direct_cost(going)
        direct = self._inner[going] > most

        def solve(number: int) -> None:
            steps[:, number] = self._solve(going[number], weights[:, number], gradient[:, number], cost)

        self._examples.each([(number,) for number in np.flatnonzero(direct).tolist()], solve)
        rest = np.flatnonzero(~direct)
        if len(rest):
            given = gradient[:, rest], cost, target[rest], most[rest]
            steps[:, rest] = self._conjugate(going[rest], *given)
        return steps

    def _direct_cost(self, going: Codes) -> Doubles:
        # In inner steps of conjugate gradients, whose passes over the vectors cost READING columns more.
        width = self._examples.width
        rows = np.count_nonzero(self._state[:, going] == ACTIVE, axis=0).astype(np.float64)
        small, large = np.minimum(rows, width), np.maximum(rows, width)
        work = DOUBLE * (small**2 * large + small**3 / 3)
        result: Doubles = work / (4.0 * len(self._examples) * width * (1 + READING / len(going)))
        return result

    def _solve(self, column: int, weights: Doubles, gradient: Doubles, cost: float) -> Doubles:
        near = np.flatnonzero(self._state[:, column])
        if len(near) <= MOST_NEAR * self._examples.width:
            taken = self._examples.gather(near)
            signs = np.where(self._examples.classes[near] == self._problems.positive[column], 1.0, -1.0)
            active = self._state[near, column] == ACTIVE
            multipliers = fit_by_products(taken @ taken.T, signs, active, cost)
            step: Doubles = taken.T @ multipliers - weights
            return step
        rows = np.flatnonzero(self._state[:, column] == ACTIVE)
        matrix = np.zeros((self._examples.width, self._examples.width))
        for first in range(0, len(rows), GATHERED):
            taken = self._examples.gather(rows[first : first + GATHERED])
            matrix += taken.T @ taken
        matrix *= 2 * cost
        return solve_ridge(matrix, 1.0, -gradient)

    def _conjugate(
        self, going: Codes, gradient: Doubles, cost: float, target: Doubles, most: Doubles
    ) -> Doubles:
        residual, steps = -gradient, np.zeros_like(gradient)
        enough = np.maximum(FORCING * np.linalg.norm(gradient, axis=0), SHARPEST * target)
        weight = 2 * cost * np.count_nonzero(self._state[:, going] == ACTIVE, axis=0) / self._scaling.examples
        direction = np.zeros_like(gradient)
        product = np.ones(len(going))
        left = np.arange(len(going))
        self._inner[going] = 0
        while len(left):
            scaled = self._scaling.apply(residual, weight[left])
            before, product = product, (residual * scaled).sum(axis=0)
            direction = scaled + (product / before) * direction
            columns = going[left]
            curved = self._examples.curve(direction, self._problems.take(columns), self._state, columns)
            curved = direction + cost * curved
            length = product / (direction * curved).sum(axis=0)
            steps[:, left] += length * direction
            residual = residual - length * curved
            self._inner[columns] += 1
            more = (np.linalg.norm(residual, axis=0) > enough[left]) & (self._inner[columns] < most[left] + 1)
            left, product = left[more], product[more]
            residual, direction = residual[:, more], direction[:, more]
        return steps
