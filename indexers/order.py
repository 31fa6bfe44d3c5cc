"""The order of a ranking: score descending, then an explicit rank among equals."""

import numpy as np
from numpy.typing import NDArray

TieRanks = NDArray[np.integer]
"""the rank of each document among equal scores (n,), the lower first"""


def order_best(scores: NDArray[np.float32], *ties: TieRanks) -> NDArray[np.int64]:
    """The places of the scores (n,), the highest first, equal ones by the first of `ties`, then the next.

    >>> order_best(np.float32([1, 2, 2]), np.array([0, 5, 3])).tolist()
    [2, 1, 0]
    """
    return np.lexsort((*reversed(ties), -scores))
