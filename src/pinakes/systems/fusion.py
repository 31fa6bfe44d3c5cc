"""Fusion of stored runs: `rrf:bm25,minilm` by reciprocal ranks, `sum:bm25=0.3,minilm=0.7` by scores.

The runs that are fused are the newest of each named system over the benchmark as it is; one over other
texts or judgments is refused.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, ClassVar, NamedTuple, cast, get_args

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Database, Session
from pinakes.errors import InputError, RunError
from pinakes.indexers.fusion import (
    RANK_CONSTANT,
    Contribution,
    Normalisation,
    fuse_reciprocal_ranks,
    fuse_scores,
)
from pinakes.indexers.lexical import positions_of
from pinakes.options import list_options, option, read_options
from pinakes.progress import Progress
from pinakes.schema import hits, runs
from pinakes.systems.base import Ability, IndexSummary, Ranking, System, SystemDescription, SystemOptions
from pinakes.systems.rankings import report_rankings
from pinakes.workload.workload import Ids, Workload, read_workload

Fused = tuple[Ids, NDArray[np.float64]]
"""papers and their fused scores"""


@dataclass(frozen=True, slots=True)
class RankOptions:
    """The options of `rrf:`."""

    constant: float = option(RANK_CONSTANT, "What is added to a rank.", above=0)


@dataclass(frozen=True, slots=True)
class SumOptions:
    """The options of `sum:`."""

    normalisation: str = option(
        "minmax", "How a ranking's scores are scaled within a query.", choices=get_args(Normalisation)
    )


class Component(NamedTuple):
    """A run that is fused: its id, its digest and its weight."""

    run_id: int
    run_digest: str
    weight: float


def parse_weights(listed: str) -> dict[str, float]:
    """The systems of a list and their weights, 1 where none is given.

    >>> parse_weights("bm25,minilm=0.5")
    {'bm25': 1.0, 'minilm': 0.5}
    """
    weights: dict[str, float] = {}
    for entry in listed.split(","):
        system, weight = _split_entry(entry.strip())
        if not system or system in weights or not _is_weight(weight):
            raise InputError(
                f"{entry.strip()!r} in {listed!r}: expected systems separated by commas, each once, each "
                "with a weight above 0 or none, as in bm25=0.3,minilm=0.7."
            )
        weights[system] = float(weight)
    if len(weights) < 2:
        raise InputError(f"{listed!r} names {len(weights)} system; expected at least two, as in bm25,minilm.")
    return weights


def _split_entry(entry: str) -> tuple[str, str]:
    system, equals, weight = entry.rpartition("=")
    return (system, weight) if equals else (entry, "1")


def _is_weight(text: str) -> bool:
    try:
        return 0 < float(text) < float("inf")
    except ValueError:
        return False


class FusionSystem(System):
    """A system whose scores come from the stored runs of others; one method is one class.

    Raises:
        InputError: fewer than two systems, one named twice, or a weight that is not above zero.
    """

    can: ClassVar[frozenset[Ability]] = frozenset({"rank", "rank_groups"})

    def __init__(self, name: str, options: SystemOptions) -> None:
        self.name = name
        self._method, _, listed = name.partition(":")
        self._weights = parse_weights(listed)
        # A run records its options as they were typed, and a default as Python writes it: stored digests.
        defaults = {one.name: str(one.default) for one in list_options(self.own_options)}
        self._settings = defaults | dict(options.parameters)

    def index(self, database: Database, workload: Workload, progress: Progress) -> IndexSummary:
        """Nothing: what is fused has been run already."""
        return IndexSummary(self.name, 0, 0, 0.0)

    def describe(self, database: Database, workload: Workload) -> SystemDescription:
        """The method, the weights, and the digests of the runs."""
        parameters = {
            "fusion": self._method,
            **self._settings,
            "weights": dict(self._weights),
            "runs_digest": [one.run_digest for one in self._find(database, workload)],
        }
        return SystemDescription(parameters, device="cpu")

    def rank(self, database: Database, workload: Workload, progress: Progress) -> Iterator[Ranking]:
        """Every paper that any of the runs has for the query, by its fused score."""
        components = self._find(database, workload)
        with database.read() as session:
            read = _read_queries(session, components)
            fused = (self._fuse(workload, query_id, found) for query_id, found in read)
            yield from report_rankings(fused, workload, self.name, len(workload.query_ids), progress)

    def rank_groups(self, database: Database, workload: Workload, progress: Progress) -> Iterator[Ranking]:
        """As `rank`: the runs that are fused ranked each query in its pool already, without its own paper."""
        return self.rank(database, workload, progress)

    def _fuse(self, workload: Workload, query_id: str, contributions: list[Contribution]) -> Ranking:
        ids, scores = self._combine(contributions)
        rows = positions_of(ids, workload.paper_ids, f"the candidates of {workload.benchmark.name}")
        scores32 = scores.astype(np.float32)
        order = np.lexsort((workload.tie_order[rows], -scores32))[: workload.benchmark.depth]
        return Ranking(query_id, rows[order], scores32[order])

    @abstractmethod
    def _combine(self, contributions: list[Contribution]) -> Fused:
        """The papers of all contributions and their fused scores."""

    def _find(self, database: Database, workload: Workload) -> list[Component]:
        return [
            _find_component(database, workload, system, weight) for system, weight in self._weights.items()
        ]


class RankFusion(FusionSystem):
    """Fusion by reciprocal ranks."""

    own_options: ClassVar[type[RankOptions]] = RankOptions

    def __init__(self, name: str, options: SystemOptions) -> None:
        super().__init__(name, options)
        self._own = read_options(RankOptions, self._method, options.parameters)

    def _combine(self, contributions: list[Contribution]) -> Fused:
        return fuse_reciprocal_ranks(contributions, self._own.constant)


class SumFusion(FusionSystem):
    """Fusion by weighted, normalised scores."""

    own_options: ClassVar[type[SumOptions]] = SumOptions

    def __init__(self, name: str, options: SystemOptions) -> None:
        super().__init__(name, options)
        self._own = read_options(SumOptions, self._method, options.parameters)

    def _combine(self, contributions: list[Contribution]) -> Fused:
        return fuse_scores(contributions, cast(Normalisation, self._own.normalisation))


def _find_component(database: Database, workload: Workload, system: str, weight: float) -> Component:
    benchmark = workload.benchmark
    newest = (
        sa.select(runs)
        .where(runs.c.benchmark == benchmark.name, runs.c.system == system)
        .order_by(runs.c.run_id.desc())
        .limit(1)
    )
    with database.read() as session:
        row = session.first(newest)
    command = f"`pinakes run {benchmark.name} --system {system}`"
    if row is None:
        raise RunError(f"{benchmark.name} has no run of {system} to fuse; make it with {command}.")
    if row["dataset_digest"] != _digest_today(database, workload, row):
        raise RunError(
            f"the newest run of {system} (run {row['run_id']}) ranked other queries, candidates or texts of "
            f"{benchmark.name} than those of today; make it again with {command}."
        )
    return Component(row["run_id"], row["run_digest"], weight)


def _digest_today(database: Database, workload: Workload, row: Mapping[str, Any]) -> str:
    templates = (
        row["query_template"] or workload.benchmark.query_template,
        row["paper_template"] or workload.benchmark.paper_template,
    )
    if templates == (workload.query_template, workload.paper_template):
        return workload.digest
    return read_workload(database, workload.benchmark, *templates).digest


def _read_queries(session: Session, components: list[Component]) -> Iterator[tuple[str, list[Contribution]]]:
    """Each query that any of the runs answered, with what each of these says, in their order."""
    query = (
        sa.select(hits.c.query_id, hits.c.run_id, hits.c.paper_id, hits.c.score)
        .where(hits.c.run_id.in_([one.run_id for one in components]))
        .order_by(hits.c.query_id, hits.c.run_id, hits.c.rank)
    )
    weights = {one.run_id: one.weight for one in components}
    order = {one.run_id: number for number, one in enumerate(components)}
    rows = (
        row
        for part in session.stream(query)
        for row in zip(*(column.to_pylist() for column in part.columns), strict=True)
    )
    for query_id, of_query in groupby(rows, key=lambda row: row[0]):
        found = {}
        for run_id, group in groupby(of_query, key=lambda row: row[1]):
            listed = list(group)
            ids = np.array([paper_id for _, _, paper_id, _ in listed], dtype=np.int64)
            scores = np.array([score for _, _, _, score in listed], dtype=np.float64)
            found[run_id] = Contribution(ids, scores, weights[run_id])
        yield query_id, [found[run_id] for run_id in sorted(found, key=lambda run_id: order[run_id])]
