"""BM25 in the pools of a grouped workload, each with statistics of its own: its N, df and mean length.

The index of the corpus is cut to one pool after the other, and each distinct text is analysed once, however
many pools it is asked in.
"""

import os
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.lexical import Ids, Ranked
from pinakes.indexers.sparse_bm25.index import SparseBm25Index
from pinakes.systems.base import Ranking
from pinakes.systems.grouped import Found, choose_k, make_rankings
from pinakes.workload.workload import Workload


class PoolSearch:
    """The queries of one pool, and an index of the pool alone; one serves any number of k1 and b.

    Attributes:
        queries: places in the whole's `query_ids` of the queries that have a text.
    """

    def __init__(
        self, index: SparseBm25Index, workload: Workload, queries: list[int], terms: list[NDArray[np.int32]]
    ) -> None:
        self._index, self._workload, self._terms = index, workload, terms
        self.queries = queries

    def rank(self, k1: float, b: float) -> Iterator[Ranking]:
        """The ranking of each query by one pair: papers that share a term with it, its own left out."""
        ranked = self._index.search_terms(
            self._terms,
            choose_k(self._workload, self._index.row_count),
            k1,
            b,
            tie_order=self._tie_order,
            threads=os.cpu_count() or 1,
        )
        yield from make_rankings(self._workload, self.queries, self._find_rows(ranked))

    def _tie_order(self, paper_ids: Ids) -> Ids:
        ranks: Ids = self._workload.tie_order[np.searchsorted(self._workload.paper_ids, paper_ids)]
        return ranks

    def _find_rows(self, ranked: list[Ranked]) -> Iterator[Found]:
        # One look-up for all queries: one for each would cost more than its search.
        ids = np.concatenate([np.empty(0, np.int64), *(one.paper_ids for one in ranked)])
        rows = np.searchsorted(self._workload.paper_ids, ids)
        start = 0
        for one in ranked:
            yield rows[start : start + len(one.scores)], one.scores
            start += len(one.scores)


def open_pools(index: SparseBm25Index, workload: Workload) -> Iterator[PoolSearch]:
    """A search of each pool of a grouped workload, by name.

    Trap: one holds its pool's postings in memory; let go of it before the next is asked for.
    """
    texts = sorted({text for text in workload.query_texts if text})
    terms = dict(zip(texts, index.read_queries(texts), strict=True))
    for part in workload.parts():
        queries = [query for query in part.queries.tolist() if workload.query_texts[query]]
        requested = [terms[workload.query_texts[query]] for query in queries]
        pool = workload.paper_ids[part.rows]
        yield PoolSearch(index.restrict(pool, threads=os.cpu_count() or 1), workload, queries, requested)
