"""What to construct: the plan, the runs that negatives may be drawn from, and the records of the outcome."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pinakes.errors import BenchmarkError, InputError, RunError, UnknownNameError, show
from pinakes.queries.definition import Benchmark
from pinakes.schema import TOP_OF

CITED: Final = "cited"
GRAPH: Final = "graph"
MOST_CITED: Final = "most_cited"
RANDOM: Final = "random"
_TAKEN: Final = (CITED, GRAPH, MOST_CITED, RANDOM, "true")
"""candidate types, and the name that MDCR's files have for one: no system may be called so"""


@dataclass(frozen=True, slots=True)
class ConstructionRequest:
    """What to construct, from what; None or empty: as the benchmark's `[sampling]` says.

    Attributes:
        drawn_from: the benchmark whose queries, pools and runs are taken.
        run_ids: the runs to choose models from; empty: the newest of each system.
        models: the systems that negatives are drawn from; empty: those whose best negatives are shared least.
        top_of: as in `ConstructionPlan`.
    """

    benchmark: str
    drawn_from: str | None = None
    run_ids: tuple[int, ...] = ()
    models: tuple[str, ...] = ()
    seed: str | None = None
    top_of: str | None = None


@dataclass(frozen=True, slots=True)
class ConstructionPlan:
    """A request with every default filled in.

    Attributes:
        model_count: how many models negatives are drawn from.
        top: how many of a run's best are compared and drawn from.
        top_of: candidates, of which those that are cited then drop out, or negatives.
        cited: cited papers of a query.
        negatives: candidates of each other type.
        most_cited: papers of a field that are its most cited.
    """

    benchmark: str
    drawn_from: str
    seed: str
    model_count: int
    top: int
    top_of: str
    cited: int
    negatives: int
    most_cited: int


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A run that was compared, and whether negatives were drawn from it.

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
class CandidateType:
    """A candidate type: its block of construction.sql, how many a query gets, and the tables it needs."""

    source: str
    block: str
    wanted: int
    run_id: int | None = None
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TypeCount:
    """A candidate type: how many candidates, and how many queries got fewer than were requested."""

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
        top_of: what the best of a run were counted among.
        queries: queries with candidates; left_out: those with no cited paper, or no negative.
        types: in the order in which they were filled.
    """

    benchmark: str
    drawn_from: str
    seed: str
    top_of: str
    queries: int
    left_out: int
    models: tuple[ModelChoice, ...]
    types: tuple[TypeCount, ...]
    clashes: tuple[Clash, ...]
    elapsed_s: float


def plan_construction(benchmark: Benchmark, request: ConstructionRequest) -> ConstructionPlan:
    """The request, and the benchmark's `[sampling]` for what it does not say.

    Raises:
        BenchmarkError: the benchmark is not one that is constructed.
        InputError: `top_of` is unknown.
    """
    defaults = benchmark.sampling or {}
    if "from" not in defaults:
        raise BenchmarkError(
            f"{benchmark.name} is not constructed; expected a benchmark whose benchmark.toml has a table "
            "[sampling] with `from`, as mdcr_constructed."
        )
    top_of = request.top_of or defaults.get("top_of", TOP_OF[0])
    if top_of not in TOP_OF:
        raise InputError(f"top_of is {show(top_of)}; expected one of {', '.join(TOP_OF)}.")
    return ConstructionPlan(
        benchmark=benchmark.name,
        drawn_from=request.drawn_from or defaults["from"],
        seed=request.seed or defaults["seed"],
        model_count=defaults["models"],
        top_of=top_of,
        **{name: defaults[name] for name in ("top", "cited", "negatives", "most_cited")},
    )


def choose_sources(
    systems: Mapping[int, str], request: ConstructionRequest, drawn_from: str
) -> dict[int, str]:
    """The runs to compare, with their systems: the newest of each system, or those that are named.

    `systems` are those of all runs of the benchmark `drawn_from`, by run id, oldest first.

    Raises:
        RunError: there is none, or not one of those that are named.
        InputError: two are of one system, or a system is called as another candidate type is.
        UnknownNameError: a requested model has no run.
    """
    if not systems:
        raise RunError(
            f"{drawn_from} has no run that negatives could be drawn from; make one with `pinakes run "
            f"{drawn_from} --system …`."
        )
    missing = sorted(set(request.run_ids) - set(systems))
    if missing:
        existing = ", ".join(map(str, systems))
        raise RunError(f"{drawn_from} has no run {missing[0]}; its runs: {existing}.")
    named = request.run_ids or tuple({system: run_id for run_id, system in systems.items()}.values())
    chosen = {run_id: systems[run_id] for run_id in sorted(set(named))}
    _check_systems(list(chosen.values()), request.models)
    return chosen


def _check_systems(systems: Sequence[str], models: Sequence[str]) -> None:
    twice = sorted({system for system in systems if systems.count(system) > 1})
    if twice:
        raise InputError(
            f"two of the runs are of {twice[0]}, but a candidate type is a system; name one run."
        )
    wrong = sorted(set(systems) & set(_TAKEN))
    if wrong:
        raise InputError(
            f"a system is called {wrong[0]}, as a candidate type is that no system draws; leave its run out "
            "by naming the others with --run."
        )
    unknown = [system for system in models if system not in systems]
    if unknown:
        raise UnknownNameError("system with a run", unknown[0], list(systems))


def list_types(plan: ConstructionPlan, models: Sequence[ModelChoice]) -> list[CandidateType]:
    """The candidate types in the order in which they take papers."""
    drawn = [
        CandidateType(model.system, "offer_model", plan.negatives, run_id=model.run_id)
        for model in models
        if model.is_chosen
    ]
    return [
        CandidateType(CITED, "offer_cited", plan.cited),
        *drawn,
        CandidateType(GRAPH, "offer_graph", plan.negatives, needs=("neighbours", "walk")),
        CandidateType(MOST_CITED, "offer_most_cited", plan.negatives),
        CandidateType(RANDOM, "offer_random", plan.negatives, needs=("numbers",)),
    ]
