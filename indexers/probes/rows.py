"""The training vectors as the solver of `dual` sees them: in double precision, block by block."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import IndexingError
from pinakes.indexers.probes.base import Vectors
from pinakes.indexers.probes.pairs import Direction, Gradient, Numbers, Pairs
from pinakes.indexers.probes.systems import solve

BLOCK: Final = 512
"""rows that are widened to float64 at once; fixed, since it decides the order of sums"""
KEPT_BYTES: Final = 32 * 2**20
"""widened rows that stay in memory; of a larger matrix none stay"""
PAIRS_BYTES: Final = 64 * 2**20
"""products of all pairs of rows, which are computed where they fit: up to 2,896 rows"""
ROWS_A_DIMENSION: Final = 8
"""and where there are at most so many rows for each dimension: of more the products are badly conditioned"""


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
        self.pairs = Pairs(widen(vectors, intercept)) if self._has_few_rows() else None
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

    def measure_gradient(self, weights: Numbers, variables: Numbers) -> Gradient:
        """What the weights lack of the sum that the variables make."""
        gradient = weights - self.combine(variables)
        return Gradient(gradient, gradient, float(np.linalg.norm(gradient)))

    def find_direction(self, gradient: Gradient, between: NDArray[np.intp], stiffness: float) -> Direction:
        """Newton's step: minus the inverse of (I + stiffness XᵀX) times the gradient, X the rows between."""
        vectors, left = self.gather(between), gradient.gradient
        if len(between) >= self.dimensions:
            step = solve(vectors.T @ vectors, left / -stiffness, 1.0 / stiffness)
        else:
            step = vectors.T @ solve(vectors @ vectors.T, vectors @ left, 1.0 / stiffness) - left
        return Direction(step, self.project(step), float(step @ step))

    def _has_few_rows(self) -> bool:
        return self.count**2 * 8 <= PAIRS_BYTES and self.count <= ROWS_A_DIMENSION * self.dimensions

    def multiply(self, weights: Numbers, values: Numbers, direction: Direction) -> float:
        """The product of the weights, whose decision values are given, with the step."""
        return float(weights @ direction.step)

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
