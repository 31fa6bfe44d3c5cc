"""How the sentences of a query and of a paper become one score: by their best pair, or by transport."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pinakes.indexers.exact.scores import Rows, Vectors
from pinakes.indexers.names import Distance
from pinakes.indexers.transport.best_pairs import VectorGroups, score_best_pairs, search_best_pairs
from pinakes.indexers.transport.plans import TransportSettings, score_transports, search_transports


@dataclass(frozen=True, slots=True)
class Matching:
    """One way to match sentences.

    Attributes:
        kind: what stands before the colon of a system's name.
        in_words: what the score is.
        score: from a query's vectors, the groups and rows of these, the scores of the groups that the rows
            name; each must have a vector.
        search: from the queries' groups, the papers', k, the distance and the tie ranks, each query's `k`
            best groups and their scores, best first.
        parameters: what else decides a score, apart from the distance.
    """

    kind: str
    in_words: str
    score: Callable[[Vectors, VectorGroups, Rows, Distance], Vectors]
    search: Callable[[VectorGroups, VectorGroups, int, Distance, Rows], Iterator[tuple[Rows, Vectors]]]
    parameters: dict[str, Any] = field(default_factory=dict)


def match_best_pair(device: str) -> Matching:
    """The best pair decides: CSFCube's sentence encoders, and ASPIRE's single match with `l2`."""
    search = partial(search_best_pairs, device=device)
    return Matching("sentences", "best pair of sentences", score_best_pairs, search)


def match_by_transport(settings: TransportSettings) -> Matching:
    """The cost of transport decides: ASPIRE's multiple matches; in a search every group is scored."""
    temperature = {"temperature": settings.temperature} if settings.marginals == "aspire" else {}
    return Matching(
        "transport",
        "optimal transport between sentences",
        partial(score_transports, settings=settings),
        partial(search_transports, settings=settings),
        {"marginals": settings.marginals, "regularisation": settings.regularisation, **temperature},
    )
