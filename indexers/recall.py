"""Recall of an approximate search against the exact one, with stored vectors as queries.

Each depth is asked for by itself, as `pinakes search --paper … -k DEPTH` does it: for one hit more, of which
the paper itself is left out. A deeper search looks farther, and finds more of the best 10 too. Equal scores
are equally right, so that no order among ties counts as a miss.
"""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.exact.scores import Rows, Vectors
from pinakes.indexers.lexical import Ids, Ranked

RECALL_DEPTHS: Final = (10, 100)


def measure_recall(
    own: Ids, exact: Sequence[Vectors], search: Callable[[int], list[Ranked]]
) -> dict[int, float]:
    """Depth -> mean recall of what `search` gives for every query at k = depth + 1.

    `own` (q,) are the ids of the queries themselves; `exact` their best scores without them, descending.
    """
    recall = {}
    for depth in RECALL_DEPTHS:
        found = [
            ranked.scores[ranked.paper_ids != query]
            for query, ranked in zip(own, search(depth + 1), strict=True)
        ]
        recall[depth] = mean_recall(exact, found, depth)
    return recall


def mean_recall(exact: Sequence[Vectors], found: Sequence[Vectors], depth: int) -> float:
    """The mean share of hits as good as the exact one at `depth`; of a query with none at all, nothing.

    `exact` and `found` are the scores of each query, descending.

    >>> exact = np.array([0.9, 0.5], np.float32)
    >>> mean_recall([exact], [np.array([0.5, 0.4], np.float32)], 2)
    0.5
    """
    shares = []
    for best, scores in zip(exact, found, strict=True):
        wanted = best[:depth]
        if len(wanted):
            shares.append(min(int((scores[:depth] >= wanted[-1]).sum()), len(wanted)) / len(wanted))
    return float(np.mean(shares)) if shares else 1.0


def sample_rows(rows: int, count: int, seed: int) -> Rows:
    """`count` of the rows, ascending, or all of them; the same ones for the same seed."""
    if rows <= count:
        return np.arange(rows, dtype=np.int64)
    chosen: NDArray[np.int64] = np.random.default_rng(seed).choice(rows, count, replace=False)
    return np.sort(chosen)
