"""The score of a paper by optimal transport between the query's sentences and its own.

Every sentence has a weight, and a plan says how much of the weight of each sentence of the query goes to
each of the paper; the score is minus the plan's cost, the sum of plan x distance. This is the multi-match of
ASPIRE (Mysore, Cohan and Hope 2022): an earth mover's distance, which matches several sentences where the
best pair matches one. Read against the authors' code (allenai/aspire, pair_distances.py,
`AllPairMaskedWasserstein`), and not compared with its output: its weights were not at hand.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import IndexingError, UnknownNameError
from pinakes.indexers.exact.scores import Rows, Vectors
from pinakes.indexers.names import Distance
from pinakes.indexers.transport.best_pairs import VectorGroups, order_pool, score_all_pairs
from pinakes.indexers.transport.entropic import plan_entropic

Marginals = Literal["aspire", "uniform"]
Numbers = NDArray[np.float64]

COSTS: Final = ("cosine", "l2")
PAPERS_AT_ONCE: Final = 8_192
"""papers of a collection whose distances are in memory together"""


@dataclass(frozen=True, slots=True)
class TransportSettings:
    """What decides a plan, besides the distances.

    Attributes:
        marginals: the weights of sentences: `aspire`, the softmax of minus the distance to the nearest
            sentence of the other side, or `uniform`.
        temperature: what these distances are divided by in `aspire`; a large one makes the weights uniform.
        regularisation: the entropic regularisation epsilon, in units of the distance; 0: the plan of the
            least cost.

    Raises:
        IndexingError: a number is not one that can be used.
        UnknownNameError: the marginals have another name.
    """

    marginals: str = "aspire"
    temperature: float = 1.0
    regularisation: float = 0.0

    def __post_init__(self) -> None:
        if self.marginals not in get_args(Marginals):
            raise UnknownNameError("marginals", self.marginals, list(get_args(Marginals)))
        if not (math.isfinite(self.temperature) and self.temperature > 0):
            raise IndexingError(f"temperature is {self.temperature}; expected a number above 0")
        if not (math.isfinite(self.regularisation) and self.regularisation >= 0):
            raise IndexingError(f"regularisation is {self.regularisation}; expected 0 or a number above it")


def score_transports(
    query: Vectors, documents: VectorGroups, pool: Rows, distance: Distance, settings: TransportSettings
) -> Vectors:
    """Minus the cost of transport to each group that `pool` (p,) names, float32 (p,); none is above 0.

    `query` is (q, d). The distance is the Euclidean one (`l2`, as in ASPIRE) or 1 - cosine, rounded to
    float32 as the scores of single pairs are; all else is float64. The order of a group's vectors can change
    the last bits of a cost, and is therefore fixed: by position in `group_vectors`.

    Raises:
        IndexingError: the query or a paper has no vector, or a number is not finite.
        UnknownNameError: the distance cannot be a cost.

    >>> documents = VectorGroups(np.float32([[0, 0], [0, 4]]), np.array([0, 0]), 1)
    >>> requested = np.float32([[0, 1], [0, 3]])
    >>> score_transports(requested, documents, np.array([0]), "l2", TransportSettings("uniform"))
    array([-1.], dtype=float32)
    """
    if distance not in COSTS:
        raise UnknownNameError("distance of a transport", distance, list(COSTS))
    if not len(pool):
        return np.empty(0, dtype=np.float32)
    scores, offsets = score_all_pairs(query, documents, pool, distance)
    distances = (1.0 if distance == "cosine" else 0.0) - scores.astype(np.float64)
    ends = [*offsets[1:].tolist(), distances.shape[1]]
    costs = [
        measure_transport(distances[:, start:end], settings)
        for start, end in zip(offsets.tolist(), ends, strict=True)
    ]
    # 0.0 - 0.0 is 0.0, where -(0.0) is -0.0.
    return (0.0 - np.array(costs)).astype(np.float32)


def search_transports(
    queries: VectorGroups,
    documents: VectorGroups,
    k: int,
    distance: Distance,
    tie_order: Rows,
    settings: TransportSettings,
) -> Iterator[tuple[Rows, Vectors]]:
    """For each group of `queries` the `k` best groups of `documents`, best first, and their scores.

    Every group that has a vector is scored: nothing cheaper bounds a transport.
    """
    held = np.flatnonzero(np.diff(documents.starts)).astype(np.int64)
    parts = [held[first : first + PAPERS_AT_ONCE] for first in range(0, len(held), PAPERS_AT_ONCE)]
    starts = queries.starts
    for number in range(queries.count):
        requested = queries.vectors[starts[number] : starts[number + 1]]
        if not len(requested) or not parts:
            yield held[:0], np.empty(0, dtype=np.float32)
            continue
        scores = [score_transports(requested, documents, part, distance, settings) for part in parts]
        rows, ordered = order_pool(held, np.concatenate(scores), tie_order)
        yield rows[:k], ordered[:k]


def measure_transport(distances: Numbers, settings: TransportSettings) -> float:
    """The cost of moving the weights of the rows to those of the columns, from distances (q, n).

    The sum of plan x distance, without the entropy where there is one: what ASPIRE ranks by (its training
    loss, and the later `evaluate.py` of its authors, add the entropy). At least the smallest distance and at
    most the largest.

    >>> measure_transport(np.array([[0.0, 1.0], [1.0, 0.0]]), TransportSettings("uniform"))
    0.0
    >>> measure_transport(np.array([[2.0, 4.0]]), TransportSettings("uniform"))
    3.0
    """
    rows, columns = weigh_sentences(distances, settings)
    is_row, is_column = rows > 0, columns > 0  # a weight that is too small for a float has nothing to move
    rows, columns = rows[is_row], columns[is_column]
    between = np.ascontiguousarray(distances[np.ix_(is_row, is_column)])
    if settings.regularisation:
        plan = plan_entropic(rows, columns, between, settings.regularisation)
    else:
        plan = _plan_exact(rows, columns, between)
    return math.fsum((plan * between).ravel().tolist())


def weigh_sentences(distances: Numbers, settings: TransportSettings) -> tuple[Numbers, Numbers]:
    """The weights of the rows (q,) and of the columns (n,) of distances (q, n); each side's sum is 1.

    >>> weigh_sentences(np.array([[0.0, 1.0]]), TransportSettings())[1].round(3).tolist()
    [0.731, 0.269]
    """
    rows, columns = distances.shape
    if settings.marginals == "uniform":
        return np.full(rows, 1 / rows), np.full(columns, 1 / columns)
    return (
        _softmax(-distances.min(axis=1) / settings.temperature),
        _softmax(-distances.min(axis=0) / settings.temperature),
    )


def _softmax(values: Numbers) -> Numbers:
    # math.exp and fsum: numpy's exp and its order of a sum differ between processors.
    largest = float(values.max())
    raised = [math.exp(value - largest) for value in values.tolist()]
    total = math.fsum(raised)
    return np.array([value / total for value in raised])


def _plan_exact(rows: Numbers, columns: Numbers, distances: Numbers) -> Numbers:
    """The plan (q, n) of the least cost, by the network simplex of POT (Bonneel et al. 2011)."""
    import ot  # imported late: it takes a second

    plan, log = ot.lp.emd(rows, columns, distances, log=True, center_dual=False)
    if log["warning"] is not None:
        raise IndexingError(f"no plan of transport was found: {log['warning']}")
    found: Numbers = plan
    return found
