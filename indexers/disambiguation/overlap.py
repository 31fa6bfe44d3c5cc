"""How much pairs of counted things share, for many pairs at once: whole numbers, the same in any order."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import scipy.sparse as sp

Floats = NDArray[np.float64]
Pairs = NDArray[np.int64]
"""rows of two things each (m, 2)"""

PAIRS_AT_ONCE: Final = 50_000


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """What each of n rows has: a matrix of counts (n, things), and how many a row has in all (n,)."""

    counts: "sp.csr_matrix"
    sizes: NDArray[np.int64]


def gather_counts(
    rows: Iterable[Iterable[str]], cut: Callable[[str], Iterable[str]] = lambda text: (text,)
) -> Counts:
    """What rows of texts have: each text, as often as it stands there, or the parts that it is cut into."""
    import scipy.sparse as sp  # late: only clusterings need it

    codes: dict[str, int] = {}
    parts: dict[str, NDArray[np.int64]] = {}
    found: list[NDArray[np.int64]] = []
    starts = [0]
    for row in rows:
        for text in row:
            if text not in parts:
                parts[text] = np.array([codes.setdefault(part, len(codes)) for part in cut(text)], np.int64)
            found.append(parts[text])
        starts.append(len(found))
    lengths = np.array([0, *map(len, found)], dtype=np.int64)
    starts_of_rows = np.cumsum(lengths)[starts]
    columns = np.concatenate([np.empty(0, np.int64), *found])
    shape = (len(starts) - 1, max(1, len(codes)))
    counts = sp.csr_matrix((np.ones(len(columns), np.int32), columns, starts_of_rows), shape=shape)
    counts.sum_duplicates()
    return Counts(counts, np.diff(starts_of_rows))


def gather_sets(rows: Iterable[Iterable[str]]) -> Counts:
    """What rows of texts have: each text once."""
    return gather_counts(dict.fromkeys(row) for row in rows)


def compare_pairs(of_rows: Counts, pairs: Pairs, largest: float = np.inf) -> Floats:
    """What each pair of rows shares, over what either has (m,); nan where one of them has nothing.

    This is Jaccard's similarity, of multisets where things are counted: the sum of the lower counts over that
    of the higher. `largest` is the most that is divided by; the result is 1 at most.

    >>> compare_pairs(gather_counts([["a", "a", "b"], ["a"], []]), np.array([[0, 1], [0, 2]]))
    array([0.33333333,        nan])
    """
    shared = np.empty(len(pairs), dtype=np.float64)
    for first in range(0, len(pairs), PAIRS_AT_ONCE):
        part = pairs[first : first + PAIRS_AT_ONCE]
        lower = of_rows.counts[part[:, 0]].minimum(of_rows.counts[part[:, 1]])
        shared[first : first + len(part)] = np.asarray(lower.sum(axis=1)).ravel()
    left, right = of_rows.sizes[pairs[:, 0]], of_rows.sizes[pairs[:, 1]]
    whole = np.minimum(left + right - shared, largest)
    known = (left > 0) & (right > 0)
    ratio = np.divide(shared, whole, out=np.full(len(pairs), np.nan), where=known)
    similarity: Floats = np.minimum(ratio, 1.0)
    return similarity
