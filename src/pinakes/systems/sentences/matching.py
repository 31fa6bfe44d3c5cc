"""How the sentences of a query and of a paper become one score: by their best pair, or by transport."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from pinakes.indexers.exact.scores import Rows, Vectors
from pinakes.indexers.names import Distance
from pinakes.indexers.transport.best_pairs import VectorGroups, score_best_pairs, search_best_pairs
from pinakes.indexers.transport.plans import TransportSettings, score_transports, search_transports

Ranked = tuple[Rows, Vectors]
"""groups, best first, and their scores"""
Score = Callable[[Vectors, VectorGroups, Rows, Distance], Vectors]
"""the scores of the groups that the rows name; each must have a vector"""


class Search(Protocol):
    """For each group of `queries` its `k` best of all groups."""

    def __call__(
        self,
        queries: VectorGroups,
        documents: VectorGroups,
        k: int,
        distance: Distance,
        tie_order: Rows,
        device: str,
    ) -> Iterator[Ranked]:
        """Groups and their scores, for one group of `queries` after the other."""
        ...


@dataclass(frozen=True, slots=True)
class Matching:
    """One way to match sentences.

    Attributes:
        kind: what stands before the colon of a system's name.
        in_words: what the score is.
        parameters: what else decides a score, apart from the distance.
    """

    kind: str
    in_words: str
    score: Score
    search: Search
    parameters: dict[str, Any] = field(default_factory=dict)


def match_best_pair() -> Matching:
    """The best pair decides: CSFCube's sentence encoders, and ASPIRE's single match with `l2`."""
    return Matching("sentences", "best pair of sentences", score_best_pairs, search_best_pairs)


def match_by_transport(settings: TransportSettings) -> Matching:
    """The cost of transport decides: ASPIRE's multiple matches; in a search every group is scored."""

    def score(query: Vectors, documents: VectorGroups, pool: Rows, distance: Distance) -> Vectors:
        return score_transports(query, documents, pool, distance, settings)

    def search(
        queries: VectorGroups,
        documents: VectorGroups,
        k: int,
        distance: Distance,
        tie_order: Rows,
        device: str,
    ) -> Iterator[Ranked]:
        return search_transports(queries, documents, k, distance, tie_order, settings)

    temperature = {"temperature": settings.temperature} if settings.marginals == "aspire" else {}
    parameters = {
        "marginals": settings.marginals,
        "regularisation": settings.regularisation,
        **temperature,
    }
    return Matching("transport", "optimal transport between sentences", score, search, parameters)
