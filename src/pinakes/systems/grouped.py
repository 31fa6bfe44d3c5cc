"""What systems that rank all pools of a grouped workload at once share: who is asked, and the rankings."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pinakes.systems.base import Ranking
from pinakes.workload.workload import Ids, Workload

Found = tuple[Ids, NDArray[np.float32]]
"""rows of the whole's `paper_ids` and their scores, best first"""


def make_rankings(workload: Workload, queries: Sequence[int], found: Iterable[Found]) -> Iterator[Ranking]:
    """The rankings of the queries at these places, from one paper more than a ranking has.

    A query's own paper is left out, and so is what is beyond the benchmark's depth.
    """
    depth = workload.benchmark.depth
    own = np.full(len(workload.query_ids), -1) if workload.query_rows is None else workload.query_rows
    for query, (rows, scores) in zip(queries, found, strict=True):
        others = rows != own[query]
        yield Ranking(workload.query_ids[query], rows[others][:depth], scores[others][:depth])


def choose_k(workload: Workload, size: int) -> int:
    """How many papers of a pool of `size` a search has to find: one more than a ranking has, its own."""
    depth = workload.benchmark.depth
    return max(1, size if depth is None else min(depth + 1, size))
