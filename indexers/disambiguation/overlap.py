"""How much pairs of counted things share, for many pairs at once.

A thing that is counted three times becomes three columns, so that the number of things that two rows share,
the sum of the lower counts, is a product of rows of ones: exact, and the same in any order.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Pairs = NDArray[np.int64]
"""rows of two things each (m, 2)"""

PAIRS_AT_ONCE: Final = 50_000


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """What each of n rows counts: a matrix of ones (n, columns), and how many ones a row has (n,)."""

    ones: sp.csr_matrix
    sizes: NDArray[np.int64]


def gather_counts(counts: Sequence[Mapping[str, int]]) -> Occurrences:
    """The occurrences of rows that count texts."""
    return _gather([(key, number) for key, count in row.items() for number in range(count)] for row in counts)


def gather_sets(sets: Iterable[Iterable[object]]) -> Occurrences:
    """The occurrences of rows that are sets."""
    return _gather([(value, 0) for value in set(row)] for row in sets)


def _gather(rows: Iterable[Sequence[tuple[object, int]]]) -> Occurrences:
    columns: dict[tuple[object, int], int] = {}
    indices: list[int] = []
    starts = [0]
    for row in rows:
        indices.extend(sorted(columns.setdefault(key, len(columns)) for key in row))
        starts.append(len(indices))
    shape = (len(starts) - 1, max(1, len(columns)))
    ones = sp.csr_matrix((np.ones(len(indices), np.int32), indices, starts), shape=shape)
    return Occurrences(ones, np.diff(starts).astype(np.int64))


def compare_pairs(occurrences: Occurrences, pairs: Pairs, largest: float = np.inf) -> Floats:
    """What each pair of rows shares, over what either has (m,); nan where one of them has nothing.

    This is Jaccard's similarity, of multisets where things are counted. `largest` is the most that is divided
    by; the result is 1 at most.

    >>> compare_pairs(gather_counts([{"a": 2, "b": 1}, {"a": 1}, {}]), np.array([[0, 1], [0, 2]]))
    array([0.33333333,        nan])
    """
    shared = np.empty(len(pairs), dtype=np.float64)
    for first in range(0, len(pairs), PAIRS_AT_ONCE):
        part = pairs[first : first + PAIRS_AT_ONCE]
        both = occurrences.ones[part[:, 0]].multiply(occurrences.ones[part[:, 1]])
        shared[first : first + len(part)] = np.asarray(both.sum(axis=1)).ravel()
    left, right = occurrences.sizes[pairs[:, 0]], occurrences.sizes[pairs[:, 1]]
    whole = np.minimum(left + right - shared, largest)
    known = (left > 0) & (right > 0)
    ratio = np.divide(shared, whole, out=np.full(len(pairs), np.nan), where=known)
    return np.minimum(ratio, 1.0)
