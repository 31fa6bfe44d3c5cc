"""Distinct whole numbers by sorting.

`np.unique` puts them into a hash table since numpy 2.3, which takes 25 times as long for 100,000 different
numbers and 70 times for 5,000,000.
"""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.integer[Any])


def find_distinct(*parts: NDArray[Number]) -> NDArray[Number]:
    """The different numbers of the arrays, ascending.

    >>> find_distinct(np.array([3, 1, 3]), np.array([2, 1])).tolist()
    [1, 2, 3]
    """
    numbers = np.sort(np.concatenate(parts), axis=None)
    is_first = np.ones(len(numbers), dtype=bool)
    np.not_equal(numbers[1:], numbers[:-1], out=is_first[1:])
    return numbers[is_first]
