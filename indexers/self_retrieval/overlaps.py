"""How many nearest candidates a neighbour and its original share: one exact search serves all readings."""

from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.exact.int8 import MOST_DIMENSIONS
from pinakes.indexers.exact.kernel import has_kernel
from pinakes.indexers.exact.passes import FEW_QUERIES
from pinakes.indexers.exact.scores import Rows, Vectors
from pinakes.indexers.exact.search import search_exact
from pinakes.indexers.self_retrieval.space import DEPTHS, READINGS, DenseTexts, Overlaps

NEEDED: Final = max(DEPTHS) + 2  # the query itself and the other of its pair may have to be left out


def find_overlaps(
    neighbours: DenseTexts, originals: DenseTexts, sample: NDArray[np.intp], ties: Rows
) -> Overlaps:
    """As `space.find_overlaps`; `ties` are distinct."""
    rows, near, far = find_pairs(neighbours.rows, originals.rows, sample)
    order = order_candidates(neighbours.rows, originals.rows, ties)
    asked = np.concatenate([neighbours.vectors[near], originals.vectors[far]])
    matrices = [originals.vectors, neighbours.vectors]
    method = _choose_pass(asked)
    found, _ = search_exact(asked, matrices, min(NEEDED, len(order)), tie_order=order, method=method)
    bits = [part.view(np.uint32) for part in np.split(asked, 2)]
    same = (bits[0] == bits[1]).all(axis=1)
    return Overlaps(rows, share_nearest(found, near + len(originals.rows), far), same)


def find_pairs(
    neighbours: NDArray[np.intp], originals: NDArray[np.intp], sample: NDArray[np.intp]
) -> tuple[NDArray[np.intp], Rows, Rows]:
    """The papers of the sample that have both, ascending, and where they stand in each."""
    rows = np.intersect1d(np.intersect1d(sample, neighbours), originals)
    return rows, np.searchsorted(neighbours, rows), np.searchsorted(originals, rows)


def order_candidates(neighbours: NDArray[np.intp], originals: NDArray[np.intp], ties: Rows) -> Rows:
    """The rank among equals of each candidate, first of the originals, then of the neighbours.

    It is by paper, and a paper's original comes before its neighbour.
    """
    return np.concatenate([2 * ties[originals], 2 * ties[neighbours] + 1])


def share_nearest(found: Rows, near: Rows, far: Rows) -> NDArray[np.int32]:
    """How many of the nearest are shared (s, 3, 2), by `READINGS` and `DEPTHS`.

    `found` (2 s, at most `NEEDED`) are the nearest of the neighbours, then of the originals, best first; the
    candidates `near` and `far` (s,) are these themselves.
    """
    left, right = np.split(found, 2)
    equal = left[:, :, None] == right[:, None, :]
    left_near, left_far = left != near[:, None], left != far[:, None]
    right_near, right_far = right != near[:, None], right != far[:, None]
    kept: dict[str, tuple[Any, Any]] = {
        "all": (np.ones_like(left_near), np.ones_like(right_near)),
        "without_own": (left_near, right_far),
        "without_pair": (left_near & left_far, right_near & right_far),
    }
    shared = np.empty((len(near), len(READINGS), len(DEPTHS)), dtype=np.int32)
    for number, reading in enumerate(READINGS):
        for place, depth in enumerate(DEPTHS):
            first, second = (_cut(one, depth) for one in kept[reading])
            shared[:, number, place] = (equal & first[:, :, None] & second[:, None, :]).sum(axis=(1, 2))
    return shared


def _cut(kept: NDArray[np.bool_], depth: int) -> NDArray[np.bool_]:
    """The first `depth` of those kept in each row."""
    return kept & (kept.cumsum(axis=1) <= depth)


def _choose_pass(queries: Vectors) -> Literal["auto", "int8"]:
    # Bytes where they can be had: bf16, which `auto` may take, is slower than they on a CPU without AMX.
    fits = has_kernel() and queries.shape[1] <= MOST_DIMENSIONS and len(queries) >= FEW_QUERIES
    return "int8" if fits else "auto"
