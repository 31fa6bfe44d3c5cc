"""What systems that rank share: rankings made of what was found, cut to their depth, and reported."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.lexical import Ranked, TieOrder
from pinakes.progress import Progress
from pinakes.systems.base import Ranking
from pinakes.workload.workload import Ids, Workload


def make_ranking(workload: Workload, query_id: str, ranked: Ranked) -> Ranking:
    """A ranking of papers of the workload, by their rows."""
    return Ranking(query_id, np.searchsorted(workload.paper_ids, ranked.paper_ids), ranked.scores)


def report_rankings(
    rankings: Iterable[Ranking], workload: Workload, system: str, total: int, progress: Progress
) -> Iterator[Ranking]:
    """The rankings, each reported as one of the `total` that are expected."""
    progress.start(f"rank {workload.benchmark.name} by {system}", total)
    try:
        for ranking in rankings:
            yield ranking
            progress.advance(1)
    finally:
        progress.finish()


Found = tuple[Ids, NDArray[np.float32]]
"""rows of the whole's `paper_ids` and their scores, best first"""


def make_rankings(workload: Workload, queries: Sequence[int], found: Iterable[Found]) -> Iterator[Ranking]:
    """The rankings of a grouped workload's queries at these places, each found with one paper more.

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


def make_tie_order(workload: Workload) -> TieOrder:
    """The workload's order of candidates with equal scores."""

    def order(paper_ids: Ids) -> Ids:
        ranks: Ids = workload.tie_order[np.searchsorted(workload.paper_ids, paper_ids)]
        return ranks

    return order
