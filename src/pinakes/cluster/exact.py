"""Exact search on a cluster: fragments of the documents are searched by workers, and the best merged.

What is found is, to the bit, what `indexers.exact.search` finds on one machine.
"""

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pinakes.cluster import needs
from pinakes.cluster.connect import connect_cluster
from pinakes.cluster.fragment_list import Fragment, WholeSet
from pinakes.cluster.fragments import (
    FRAGMENT_ROWS,
    Documents,
    FragmentSet,
    hold_fragments,
    read_fragment,
)
from pinakes.cluster.workers import Call, Workers
from pinakes.indexers.exact.best import Ties
from pinakes.indexers.exact.merge import MergedBest
from pinakes.indexers.exact.passes import Block, Search
from pinakes.indexers.exact.scores import Rows, Vectors
from pinakes.indexers.exact.search import BLOCK_ROWS, score_pools, search_nested
from pinakes.indexers.names import Distance
from pinakes.indexers.order import TieRanks, order_best
from pinakes.progress import say_nothing

Found = tuple[Rows, Vectors]
Ranks = NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class _Running:
    """A search of a worker: what it has found of fragments spares it work in the next ones."""

    asked: str
    search: Search
    seen: set[Fragment]


class SearchWorker:
    """A process of the cluster that searches fragments; it keeps the last one."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._held: tuple[Fragment, Documents] | None = None
        self._running: _Running | None = None

    def ready(self) -> None:
        """Nothing is loaded before it is asked for."""

    def search(
        self, fragment: Fragment, asked: str, queries: Vectors, k: int, distance: Distance
    ) -> tuple[Rows, Ranks, Vectors]:
        """What the fragment has of the best `k` of all that this worker saw for the queries `asked`.

        How many for each query, their ranks among equal scores, and their scores. What is left out has `k`
        better ones, so that it is among the best of nothing.
        """
        held = self._read(fragment)
        if self._running is None or self._running.asked != asked or fragment in self._running.seen:
            search = Search(queries, k, distance, Ties(None), self._device, "auto")
            self._running = _Running(asked, search, set())
        running = self._running
        running.seen.add(fragment)
        # Ranks in place of rows: they are distinct over all fragments, and the order of equals.
        ranks = held.ranks.astype(np.int64)
        for start in range(0, len(ranks), BLOCK_ROWS):
            part = slice(start, start + BLOCK_ROWS)
            running.search.add(Block(ranks[part], held.vectors[part]))
        best, scores = running.search.take()
        ordered = np.sort(ranks)
        places = np.minimum(np.searchsorted(ordered, best), len(ordered) - 1)
        own = ordered[places] == best
        return own.sum(axis=1), best[own].astype(np.uint32), scores[own]

    def nested(
        self, fragment: Fragment, queries: Vectors, pools: Sequence[Rows], k: int, distance: Distance
    ) -> list[tuple[Ranks, Vectors]]:
        """As `search` in each of nested pools of rows."""
        held = self._read(fragment)
        inside = [_find(held, pool) for pool in pools]
        found = search_nested(queries, held.vectors, inside, k, distance, held.ranks, self._device)
        return [(held.ranks[rows], scores) for rows, scores in found]

    def score(
        self, fragment: Fragment, queries: Vectors, pools: Sequence[Rows], distance: Distance
    ) -> list[Found]:
        """The rows of each query's pool that the fragment has, and their scores."""
        held = self._read(fragment)
        inside = [_find(held, pool) for pool in pools]
        found = score_pools(queries, held.vectors, inside, distance, held.ranks)
        return [(held.rows[places], scores) for places, scores in found]

    def _read(self, fragment: Fragment) -> Documents:
        if self._held is None or self._held[0] != fragment:
            self._held = None  # before the next is read
            self._held = fragment, read_fragment(fragment)
        return self._held[1]


class SharedVectors:
    """Documents in fragments that workers search; rows are those of the whole. Made by `share_vectors`."""

    def __init__(self, workers: Workers, fragments: FragmentSet, ties: TieRanks, rows: int) -> None:
        self._workers, self._fragments, self._ties = workers, fragments, ties
        self._fragment_rows = min(rows, len(ties))
        self._order = Ties(ties)

    def _reserve(self, queries: Vectors, hits: float) -> None:
        """Have workers that can keep so many hits of all queries."""
        self._workers.reserve(needs.search(self._fragment_rows, queries.shape[1], len(queries), hits))

    def complete(self) -> None:
        """Write the fragments that are not there."""
        for _ in self._fragments:
            pass

    def describe(self) -> WholeSet | None:
        """What the set of fragments is, once it is whole."""
        return self._fragments.describe()

    def search(self, queries: Vectors, k: int, distance: Distance) -> Found:
        """What `search_exact` gives for all documents and these ties."""
        k, asked = min(k, len(self._ties)), uuid.uuid4().hex
        self._reserve(queries, len(queries) * k)
        shared, best = self._workers.share(queries), MergedBest(len(queries), k)
        calls = (Call(None, "search", (one, asked, shared, k, distance)) for one in self._fragments)
        for _, found in self._workers.map(calls):
            best.add_ragged(*found)
        return self._take(best)

    def search_nested(
        self, queries: Vectors, pools: Sequence[Rows], k: int, distance: Distance
    ) -> Iterator[Found]:
        """What `indexers.exact.search.search_nested` gives for these ties."""
        self._reserve(queries, len(queries) * sum(min(k, len(pool)) for pool in pools))
        shared, nested = self._workers.share(queries), self._workers.share(list(pools))
        best = [MergedBest(len(queries), min(k, max(1, len(pool)))) for pool in pools]
        calls = (Call(None, "nested", (one, shared, nested, k, distance)) for one in self._fragments)
        for _, parts in self._workers.map(calls):
            for merged, found in zip(best, parts, strict=True):
                merged.add(*found)
        yield from map(self._take, best)

    def score_pools(self, queries: Vectors, pools: Sequence[Rows], distance: Distance) -> Iterator[Found]:
        """What `indexers.exact.search.score_pools` gives for these ties."""
        self._reserve(queries, sum(map(len, pools)))
        shared, own = self._workers.share(queries), self._workers.share(list(pools))
        parts: list[list[Found]] = [[] for _ in pools]
        calls = (Call(None, "score", (one, shared, own, distance)) for one in self._fragments)
        for _, found in self._workers.map(calls):
            for of_query, part in zip(parts, found, strict=True):
                of_query.append(part)
        for of_query in parts:
            rows = np.concatenate([np.empty(0, np.int64), *(rows for rows, _ in of_query)])
            scores = np.concatenate([np.empty(0, np.float32), *(scores for _, scores in of_query)])
            order = order_best(scores, self._ties[rows], rows)
            yield rows[order], scores[order]

    def _take(self, best: MergedBest) -> Found:
        ranks, scores = best.take()
        return self._order.rows(ranks), scores


@contextmanager
def share_vectors(
    on: str,
    place: str | Path,
    blocks: Iterable[Block],
    ties: TieRanks,
    *,
    device: str | None = None,
    fragment_rows: int = FRAGMENT_ROWS,
    tell: Callable[[str], None] = say_nothing,
) -> Iterator[SharedVectors]:
    """The documents of the blocks on a cluster, by way of fragments at `place`, which are written once.

    `ties` ranks each document among equal scores. Raises as `connect_cluster`, `Workers` and
    `hold_fragments` do.
    """
    with (
        connect_cluster(on, device, tell) as cluster,
        hold_fragments(place, blocks, ties, fragment_rows) as fragments,
        Workers(cluster, SearchWorker, cluster.device) as workers,
    ):
        yield SharedVectors(workers, fragments, ties, fragment_rows)


def _find(held: Documents, pool: Rows) -> Rows:
    """Where a fragment has those of a pool's rows that it has."""
    order = np.argsort(held.rows)
    places = np.searchsorted(held.rows, pool, sorter=order)
    inside = places < len(order)
    inside[inside] = held.rows[order[places[inside]]] == pool[inside]
    return order[places[inside]]
