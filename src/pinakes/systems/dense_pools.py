"""Vectors compared in the pools of a grouped workload: each vector is read once, nested pools share a pass.

Pools whose queries say the same, and of which one holds the other, are a chain: the documents are compared
once for all of its pools. Where they are many, vectors wait in a temporary file.
"""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from pinakes.indexers.exact.scores import Vectors
from pinakes.indexers.exact.search import Block, score_pools, search_nested
from pinakes.indexers.names import Distance
from pinakes.systems.base import Ranking
from pinakes.systems.rankings import choose_k, make_rankings
from pinakes.workload.workload import Ids, Workload

if TYPE_CHECKING:  # imported late: Ray
    from pinakes.cluster.exact import SharedVectors

BYTES_IN_MEMORY: Final = 1 << 30
"""more bytes of vectors lie in a file"""


class PooledVectors(Protocol):
    """Vectors of candidates of which pools are searched, wherever they are; pools are of places in `rows`."""

    @property
    def rows(self) -> Ids:
        """The row of `Workload.paper_ids` of each (n,)."""

    def score_pools(
        self, queries: Vectors, pools: Sequence[Ids], distance: Distance, ties: Ids
    ) -> Iterator[tuple[Ids, Vectors]]:
        """As `indexers.exact.search.score_pools`."""

    def search_nested(
        self, queries: Vectors, pools: Sequence[Ids], k: int, distance: Distance, ties: Ids
    ) -> Iterator[tuple[Ids, Vectors]]:
        """As `indexers.exact.search.search_nested`."""


@dataclass(frozen=True, slots=True, eq=False)
class HeldVectors:
    """Vectors of candidates here, in the order in which they were read.

    Attributes:
        vectors: (n, d), in memory or mapped from a file.
        rows: the row of `Workload.paper_ids` of each (n,).
        device: what nested pools are searched on.
    """

    vectors: Vectors
    rows: Ids
    device: str = "cpu"

    def score_pools(
        self, queries: Vectors, pools: Sequence[Ids], distance: Distance, ties: Ids
    ) -> Iterator[tuple[Ids, Vectors]]:
        """As `PooledVectors` has it."""
        return score_pools(queries, self.vectors, pools, distance, ties)

    def search_nested(
        self, queries: Vectors, pools: Sequence[Ids], k: int, distance: Distance, ties: Ids
    ) -> Iterator[tuple[Ids, Vectors]]:
        """As `PooledVectors` has it."""
        return search_nested(queries, self.vectors, pools, k, distance, ties, self.device)


@dataclass(frozen=True, slots=True, eq=False)
class SharedPools:
    """Vectors of candidates on a cluster, which knows the ties; `rows` are those of `Workload.paper_ids`."""

    shared: "SharedVectors"
    rows: Ids

    def score_pools(
        self, queries: Vectors, pools: Sequence[Ids], distance: Distance, ties: Ids
    ) -> Iterator[tuple[Ids, Vectors]]:
        """As `PooledVectors` has it."""
        return self.shared.score_pools(queries, pools, distance)

    def search_nested(
        self, queries: Vectors, pools: Sequence[Ids], k: int, distance: Distance, ties: Ids
    ) -> Iterator[tuple[Ids, Vectors]]:
        """As `PooledVectors` has it."""
        return self.shared.search_nested(queries, pools, k, distance)


@contextmanager
def hold_vectors(blocks: Iterable[Block], rows: Ids, dimensions: int, device: str) -> Iterator[HeldVectors]:
    """The vectors of all blocks while the context lasts; a block's rows are places in `rows`."""
    shape = (len(rows), dimensions)
    order = np.empty(len(rows), dtype=np.int64)
    with tempfile.TemporaryFile() as file:
        in_memory = 4 * len(rows) * dimensions <= BYTES_IN_MEMORY
        held = np.empty(shape, dtype=np.float32) if in_memory else None
        count = 0
        for block in blocks:
            stop = count + len(block.rows)
            order[count:stop] = rows[block.rows]
            if held is not None:
                held[count:stop] = block.vectors
            else:
                file.write(np.ascontiguousarray(block.vectors, dtype=np.float32).data)
            count = stop
        file.flush()
        vectors = np.memmap(file, np.float32, "r", shape=shape) if held is None else held
        yield HeldVectors(vectors, order, device)


def rank_own_pools(
    workload: Workload, positions: Sequence[int], queries: Vectors, held: PooledVectors, distance: Distance
) -> Iterator[Ranking]:
    """The ranking of the queries at these positions, each in its own pool; `queries` are their vectors."""
    places = _find_places(workload, held)
    query_ids = [workload.query_ids[position] for position in positions]
    placed = (places[(workload.pools or {})[query_id]] for query_id in query_ids)
    pools = [pool[pool >= 0] for pool in placed]
    ranked = held.score_pools(queries, pools, distance, workload.tie_order[held.rows])
    for query_id, (found, scores) in zip(query_ids, ranked, strict=True):
        depth = workload.benchmark.depth or len(found)
        yield Ranking(query_id, held.rows[found[:depth]], scores[:depth])


def _find_places(workload: Workload, held: PooledVectors) -> Ids:
    """Where each paper's vector is; -1 for one that has none."""
    places = np.full(len(workload.paper_ids), -1, dtype=np.int64)
    places[held.rows] = np.arange(len(held.rows))
    return places


def rank_pools(
    workload: Workload,
    held: PooledVectors,
    texts: Mapping[str, int],
    queries: Vectors,
    distance: Distance,
) -> Iterator[Ranking]:
    """The ranking of each query in its pool, chain by chain.

    `texts` says for each distinct text of a query which row of `queries` its vector is.
    """
    places = _find_places(workload, held)
    ties = workload.tie_order[held.rows]
    for chain in chain_pools(workload):
        requested = np.array([texts[text] for text in chain.texts], dtype=np.int64)
        pools = [placed[placed >= 0] for placed in (places[rows] for rows in chain.pools)]
        k = choose_k(workload, len(pools[-1]))
        found = held.search_nested(queries[requested], pools, k, distance, ties)
        place = {text: number for number, text in enumerate(chain.texts)}
        for members, (rows, scores) in zip(chain.queries, found, strict=True):
            own = [place[workload.query_texts[query]] for query in members]
            whole = held.rows[rows]
            yield from make_rankings(workload, members, ((whole[row], scores[row]) for row in own))


@dataclass(slots=True, eq=False)
class Chain:
    """Pools that are nested, and whose queries say the same.

    Attributes:
        texts: the distinct texts of the queries.
        pools: rows of `Workload.paper_ids`, each pool's in the next.
        queries: for each pool the places in `query_ids` of the queries that have a text.
    """

    texts: Sequence[str]
    pools: list[Ids]
    queries: list[list[int]]


def chain_pools(workload: Workload) -> list[Chain]:
    """The pools of a grouped workload in chains; one that fits into several joins the first that was begun.

    Pools without a query that has a text are in none.
    """
    requested = {part.pool: part.queries.tolist() for part in workload.parts()}
    groups = workload.groups or {}
    chains: dict[frozenset[str], list[Chain]] = {}
    for pool in sorted(groups, key=lambda name: (len(groups[name]), name)):
        queries = [query for query in requested[pool] if workload.query_texts[query]]
        texts = frozenset(workload.query_texts[query] for query in queries)
        begun = chains.setdefault(texts, [])
        chain = next((one for one in begun if _holds(workload, groups[pool], one.pools[-1])), None)
        if chain is None:
            chain = Chain(sorted(texts), [], [])
            begun.append(chain)
        chain.pools.append(groups[pool])
        chain.queries.append(queries)
    return [chain for texts, begun in chains.items() if texts for chain in begun]


def _holds(workload: Workload, pool: Ids, smaller: Ids) -> bool:
    is_in_pool = np.zeros(len(workload.paper_ids), dtype=bool)
    is_in_pool[pool] = True
    return bool(is_in_pool[smaller].all())
