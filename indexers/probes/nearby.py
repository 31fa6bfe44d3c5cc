"""One squared-hinge problem on some of its examples, by their inner products; and the best length of a step.

Newton's step is ridge regression on the active examples: w = X_A^T v with (X_A X_A^T + I / 2C) v = y_A. The
products of the examples are made once, so that each step costs a factorisation of the active ones' alone.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from pinakes.indexers.probes.products import Doubles, Flags

MOST_STEPS: Final = 50
MOST_LENGTHS: Final = 40
CLEARLY: Final = 1e-6  # of a step's length
SMALLEST: Final = 1e-10  # a change of decision values that is none


def fit_by_products(products: Doubles, signs: Doubles, active: Flags, cost: float) -> Doubles:
    """The v (n,) for which w = X^T v is the optimum on all of these examples.

    `products` is X X^T (n, n), `signs` are 1 or -1; the first step takes `active` to be those with a loss.

    >>> fit_by_products(np.eye(2), np.array([1.0, -1.0]), np.array([True, True]), 0.5).round(3).tolist()
    [0.5, -0.5]
    """
    point = _regress(products, signs, active, cost)
    values = products @ point
    for _ in range(MOST_STEPS):
        new = signs * values < 1.0
        if (new == active).all():
            break
        active = new
        step = _regress(products, signs, active, cost) - point
        moved = products @ step
        if np.abs(moved).max(initial=0.0) <= SMALLEST:
            break
        square = np.array([step @ moved])
        slope = np.array([point @ moved])
        short, rate = (1.0 - signs * values)[:, None], (-signs * moved)[:, None]
        length = float(find_lengths(short, rate, cost, slope, square)[0])
        point = point + length * step
        values = values + length * moved
        if length != 1.0:
            active = np.zeros_like(active)  # not this set's optimum
    return point


def find_lengths(
    short: NDArray[np.floating], rate: NDArray[np.floating], cost: float, slope: Doubles, square: Doubles
) -> Doubles:
    """The lengths (c,) at which steps end lowest; the functions along them are convex, piecewise quadratic.

    What is `short` of a margin of 1 (n, c) grows by `rate` (n, c); `slope` and `square` (c,) are w p and p p.
    A length of 1 is kept where no other is clearly better.
    """
    low, high = np.zeros(len(slope)), np.full(len(slope), np.inf)
    length = np.ones(len(slope))
    for _ in range(MOST_LENGTHS):
        hinge = np.maximum(short + length.astype(rate.dtype) * rate, 0)
        rising = slope + length * square + 2 * cost * np.einsum("nc,nc->c", hinge, rate)
        bend = square + 2 * cost * np.einsum("nc,nc,nc->c", hinge > 0, rate, rate)
        open_columns = np.abs(rising) > CLEARLY * bend
        if not open_columns.any():
            break
        low, high = np.where(rising < 0, length, low), np.where(rising > 0, length, high)
        following = length - rising / np.where(bend > 0, bend, 1.0)
        middle = np.where(np.isinf(high), 2 * length, (low + high) / 2)
        inside = (following > low) & (following < high)
        length = np.where(open_columns, np.where(inside, following, middle), length)
    return length


def _regress(products: Doubles, signs: Doubles, active: Flags, cost: float) -> Doubles:
    rows = np.flatnonzero(active)
    result = np.zeros(len(signs))
    if len(rows):
        result[rows] = solve_ridge(products[np.ix_(rows, rows)], 1 / (2 * cost), signs[rows])
    return result


def solve_ridge(matrix: Doubles, ridge: float, right: Doubles) -> Doubles:
    """The solution (n,) of (`matrix` + `ridge` I) x = `right`; overwrites `matrix` (n, n), X X^T or X^T X.

    A ridge below what float64 tells from 0 beside the matrix is raised to that, so that there is a solution.

    >>> solve_ridge(np.zeros((2, 2)), 0.5, np.array([1.0, 2.0])).round(3).tolist()
    [2.0, 4.0]
    """
    least = len(matrix) * np.finfo(np.float64).eps * matrix.diagonal().max()
    matrix.flat[:: len(matrix) + 1] += max(ridge, least)
    # Symmetric, and its transpose is in the order that LAPACK takes without a copy.
    factor = cho_factor(matrix.T, lower=True, overwrite_a=True, check_finite=False)
    return np.asarray(cho_solve(factor, right, check_finite=False))
