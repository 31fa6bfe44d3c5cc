"""Recall of an approximate search against the exact one, with stored vectors as queries.

Equal scores are equally right, so that no order among ties counts as a miss.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.exact.scores import Rows, Vectors

RECALL_DEPTHS: Final = (10, 100)


def mean_recall(
    queries: Rows, truth: tuple[Rows, Vectors], found: list[tuple[Rows, Vectors]], depth: int
) -> float:
    """The mean share of hits as good as the exact one at `depth`, each query's own row left out.

    >>> exact = (np.array([[0, 1, 2]]), np.array([[1.0, 0.9, 0.5]], np.float32))
    >>> mean_recall(np.array([0]), exact, [(np.array([0, 2]), np.array([1.0, 0.5], np.float32))], 2)
    0.5
    """
    shares = []
    for number, own in enumerate(queries):
        exact = truth[1][number][truth[0][number] != own][:depth]
        if not len(exact):
            continue
        rows, scores = found[number]
        kept = scores[rows != own][:depth]
        shares.append(min(int((kept >= exact[-1]).sum()), len(exact)) / len(exact))
    return float(np.mean(shares)) if shares else 1.0


def sample_rows(rows: int, count: int, seed: int) -> Rows:
    """`count` of the rows, ascending, or all of them; the same ones for the same seed."""
    if rows <= count:
        return np.arange(rows, dtype=np.int64)
    chosen: NDArray[np.int64] = np.random.default_rng(seed).choice(rows, count, replace=False)
    return np.sort(chosen)
