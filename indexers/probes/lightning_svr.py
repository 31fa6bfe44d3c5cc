"""The regression that made SciRepEval's published figures: lightning 0.6.2's LinearSVR, step by step.

Its solver goes through the training examples in a new order each pass, but keeps a dual variable with the
place in the order, not with the example (`alpha_[s]` for example `A[s % n_samples]`, `_dual_cd_svr` in
lightning/impl/dual_cd_fast.pyx). So it minimises no stated function, ends at the limit of passes as a rule,
and predicts worse than a solution of the problem that its documentation states; only the same steps give
the same figures.
numpy's legacy generator shuffles as lightning's own does. All values of C take the same steps together.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.probes.base import Rules, Vectors
from pinakes.jit import jit

Numbers = NDArray[np.float64]

LANES: Final = 8
"""values of C that go together: the doubles of a register of 512 bits"""
SEED: Final = 42


def fit_as_lightning(
    examples: tuple[Vectors, Numbers], trained: NDArray[np.intp], grid: Sequence[float], rules: Rules
) -> tuple[Numbers, int]:
    """The weights (d, C) for each C of the grid, and how many of the fits stopped at the limit of passes.

    Of the examples, vectors (n, d) and targets (n,), those of `trained` are learnt from. Their order counts.
    """
    parts, unconverged = [], 0
    for first in range(0, len(grid), LANES):
        limits = np.array(grid[first : first + LANES], dtype=np.float64)
        weights, going = _fit_lanes(examples, trained, limits, rules)
        parts.append(weights)
        unconverged += going
    return np.hstack(parts), unconverged


def _fit_lanes(
    examples: tuple[Vectors, Numbers], trained: NDArray[np.intp], limits: Numbers, rules: Rules
) -> tuple[Numbers, int]:
    vectors, targets = examples
    order, lanes = trained.copy(), len(limits)
    generator = np.random.RandomState(SEED)  # legacy on purpose: lightning carries the same generator
    weights, duals = np.zeros((LANES, vectors.shape[1])), np.zeros((2 * len(order), LANES))
    padded, going = np.zeros(LANES), np.zeros(LANES)
    padded[:lanes], going[:lanes] = limits, 1.0
    squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    first_sums = np.zeros(LANES)
    for number in range(rules.max_epochs):
        generator.shuffle(order)
        sums = _pass_through(vectors, targets, order, squares, weights, duals, padded * going)
        if number == 0:
            first_sums = sums
        with np.errstate(invalid="ignore", divide="ignore"):
            going[sums / first_sums < rules.tolerance] = 0.0
        if not going.any():
            break
    return weights[:lanes].T, int(going.sum())


@jit
def _pass_through(
    vectors: Vectors,
    targets: Numbers,
    order: NDArray[np.intp],
    squares: Numbers,
    weights: Numbers,
    duals: Numbers,
    limits: Numbers,
) -> Numbers:
    """Take one pass, twice through the order; the sums of violations. A lane of limit 0 stands still."""
    count, dimensions = len(order), vectors.shape[1]
    sums, predicted, change = np.zeros(LANES), np.zeros(LANES), np.zeros(LANES)
    vector = np.empty(dimensions)
    for place in range(2 * count):
        row = order[place % count]
        sign = 1.0 if place % 2 == 0 else -1.0
        for column in range(dimensions):
            vector[column] = vectors[row, column]
        np.dot(weights, vector, predicted)
        moved = False
        for lane in range(LANES):
            change[lane] = 0.0
            dual, limit = duals[place, lane], limits[lane]
            slope = sign * (predicted[lane] - targets[row])
            stays = (dual == 0.0 and slope >= 0.0) or (dual == limit and slope <= 0.0)
            if limit == 0.0 or stays:
                continue
            sums[lane] += abs(slope)
            if abs(slope) > 1e-12:
                duals[place, lane] = min(max(dual - slope / squares[row], 0.0), limit)
                change[lane] = sign * (duals[place, lane] - dual)
                moved = moved or change[lane] != 0.0
        if moved:
            for lane in range(LANES):
                step = change[lane]
                if step != 0.0:
                    for column in range(dimensions):
                        weights[lane, column] += step * vector[column]
    return sums
