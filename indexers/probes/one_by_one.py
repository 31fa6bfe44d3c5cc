"""The dual solved one variable after the other, over the products of all pairs: quick where C is small.

Each sweep takes the examples in a new order, drawn by a generator of its own from a fixed seed; a change
costs one row of the products (n, n). Where C is large or the vectors are badly scaled this takes long, and
ends undone after `VISITS`: `dual` goes on from there with Newton's steps.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.jit import jit

Numbers = NDArray[np.float64]

VISITS: Final = 200_000
"""visits of an example, at most, over all sweeps"""
SEED: Final = 42


@jit
def _shuffle(order: NDArray[np.int64], state: np.uint64) -> np.uint64:
    """Shuffle in place; the generator's next state (Knuth's linear congruential one, 64 bits)."""
    for place in range(order.shape[0] - 1, 0, -1):
        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        other = np.int64((state >> np.uint64(33)) % np.uint64(place + 1))
        order[place], order[other] = order[other], order[place]
    return state


@jit
def change_one_by_one(
    products: Numbers,
    targets: Numbers,
    bounds: tuple[Numbers, Numbers],
    variables: Numbers,
    by_class: bool,
    tolerance: float,
) -> None:
    """Move the variables (n,), in place, towards the least of ½ βᵀ products β - targets β within the bounds.

    Ends where the violation that `Boxes` states, as a sweep meets it, is at most the tolerance, in the units
    of the targets.
    """
    lower, upper = bounds
    order = np.flatnonzero(lower < upper)
    gradient = np.dot(products, variables) - targets
    state = np.uint64(SEED)
    for _ in range(VISITS // max(1, order.shape[0])):
        state = _shuffle(order, state)
        highest = lowest = total = 0.0
        for row in order:
            slope, variable = gradient[row], variables[row]
            if (variable <= lower[row] and slope >= 0.0) or (variable >= upper[row] and slope <= 0.0):
                continue
            signed = slope if targets[row] > 0.0 else -slope
            highest, lowest, total = max(highest, signed), min(lowest, signed), total + abs(slope)
            changed = min(max(variable - slope / products[row, row], lower[row]), upper[row])
            step = changed - variable
            if step != 0.0:
                variables[row] = changed
                for other in range(gradient.shape[0]):
                    gradient[other] += step * products[row, other]
        violation = highest - lowest if by_class else total / max(1, order.shape[0])
        if violation <= tolerance:
            return
