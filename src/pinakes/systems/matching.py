"""How the sentences of a query and of a paper become one score: by their best pair, or by transport."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from pinakes.indexers.exact.scores import Distance, Rows, Vectors
from pinakes.indexers.transport.best_pairs import (
    VectorGroups,
    order_pool,
    score_best_pairs,
    search_best_pairs,
)
from pinakes.indexers.transport.plans import TransportSettings, score_transports, search_transports

Ranked = tuple[Rows, Vectors]
"""groups, best first, and their scores"""


class Matching(Protocol):
    """One way to match sentences."""

    @property
    def kind(self) -> str:
        """What stands before the colon of a system's name."""
        ...

    @property
    def in_words(self) -> str:
        """What the score is."""
        ...

    def describe(self) -> dict[str, Any]:
        """What else decides a score, apart from the distance."""
        ...

    def rank_pool(
        self, query: Vectors, documents: VectorGroups, pool: Rows, distance: Distance, tie_order: Rows
    ) -> Ranked:
        """The groups that `pool` names in rank order; each must have a vector."""
        ...

    def search(
        self,
        queries: VectorGroups,
        documents: VectorGroups,
        k: int,
        distance: Distance,
        tie_order: Rows,
        device: str,
    ) -> Iterator[Ranked]:
        """For each group of `queries` its `k` best of all groups."""
        ...


@dataclass(frozen=True, slots=True)
class BestPair:
    """The best pair decides: CSFCube's sentence encoders, and ASPIRE's single match with `l2`."""

    kind: str = "sentences"
    in_words: str = "best pair of sentences"

    def describe(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def rank_pool(
        self, query: Vectors, documents: VectorGroups, pool: Rows, distance: Distance, tie_order: Rows
    ) -> Ranked:
        """As `score_best_pairs` has it."""
        return order_pool(pool, score_best_pairs(query, documents, pool, distance), tie_order)

    def search(
        self,
        queries: VectorGroups,
        documents: VectorGroups,
        k: int,
        distance: Distance,
        tie_order: Rows,
        device: str,
    ) -> Iterator[Ranked]:
        """As `search_best_pairs` has it."""
        return search_best_pairs(queries, documents, k, distance, tie_order, device)


@dataclass(frozen=True, slots=True)
class Transport:
    """The cost of transport decides: ASPIRE's multiple matches."""

    settings: TransportSettings
    kind: str = "transport"
    in_words: str = "optimal transport between sentences"

    def describe(self) -> dict[str, Any]:
        """The marginals, with their temperature where they have one, and the regularisation."""
        chosen = self.settings
        temperature = {"temperature": chosen.temperature} if chosen.marginals == "aspire" else {}
        return {"marginals": chosen.marginals, "regularisation": chosen.regularisation, **temperature}

    def rank_pool(
        self, query: Vectors, documents: VectorGroups, pool: Rows, distance: Distance, tie_order: Rows
    ) -> Ranked:
        """As `score_transports` has it."""
        scores = score_transports(query, documents, pool, distance, self.settings)
        return order_pool(pool, scores, tie_order)

    def search(
        self,
        queries: VectorGroups,
        documents: VectorGroups,
        k: int,
        distance: Distance,
        tie_order: Rows,
        device: str,
    ) -> Iterator[Ranked]:
        """As `search_transports` has it: every group is scored."""
        return search_transports(queries, documents, k, distance, tie_order, self.settings)
