"""What a construction is asked for, and what came of it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConstructionRequest:
    """What to construct, from what; None or empty: as the benchmark's `[sampling]` says.

    Attributes:
        drawn_from: the benchmark whose queries, pools and runs are taken.
        run_ids: the runs to choose models from; empty: the newest of each system.
        models: the systems that negatives are drawn from; empty: those whose best negatives are shared least.
    """

    benchmark: str
    drawn_from: str | None = None
    run_ids: tuple[int, ...] = ()
    models: tuple[str, ...] = ()
    seed: str | None = None


@dataclass(frozen=True, slots=True)
class ConstructionPlan:
    """A request with every default filled in.

    Attributes:
        model_count: how many models negatives are drawn from.
        top: the best negatives of a run that are compared and drawn from.
        cited: cited papers of a query.
        negatives: candidates of each other type.
        most_cited: papers of a field that are its most cited.
    """

    benchmark: str
    drawn_from: str
    seed: str
    model_count: int
    top: int
    cited: int
    negatives: int
    most_cited: int


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A run that was looked at, and whether negatives were drawn from it.

    Attributes:
        queries: queries that it has negatives for.
        mean_jaccard: as in `construction_models`.
    """

    run_id: int
    system: str
    queries: int
    mean_jaccard: float | None
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class TypeCount:
    """A candidate type: how many candidates, and how many queries got fewer than were asked for."""

    source: str
    candidates: int
    queries_with_fewer: int


@dataclass(frozen=True, slots=True)
class Clash:
    """(query, paper) pairs that the type `source` would have drawn, and that `kept_source` has."""

    source: str
    kept_source: str
    clashes: int


@dataclass(frozen=True, slots=True)
class ConstructionSummary:
    """What was constructed.

    Attributes:
        queries: queries with candidates; left_out: those with no cited paper, or no negative.
        types: in the order in which they were filled.
    """

    benchmark: str
    drawn_from: str
    seed: str
    queries: int
    left_out: int
    models: tuple[ModelChoice, ...]
    types: tuple[TypeCount, ...]
    clashes: tuple[Clash, ...]
    elapsed_s: float
