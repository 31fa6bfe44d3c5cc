"""The runs that a construction draws negatives from: those whose best negatives the others share least."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Session
from pinakes.errors import InputError, RunError, UnknownNameError
from pinakes.sample.construct_records import ConstructionPlan, ConstructionRequest, ModelChoice
from pinakes.schema import construction_models, runs

CITED: Final = "cited"
GRAPH: Final = "graph"
MOST_CITED: Final = "most_cited"
RANDOM: Final = "random"
_TAKEN: Final = (CITED, GRAPH, MOST_CITED, RANDOM, "true")
"""candidate types, and the name that MDCR's files have for one: no system may be called so"""


def find_sources(session: Session, plan: ConstructionPlan, request: ConstructionRequest) -> dict[int, str]:
    """The runs to choose from, with their systems: the newest of each system, or those that are named.

    Raises:
        RunError: there is none, or not one of those that are named.
        InputError: two are of one system, or a system is called as another candidate type is.
        UnknownNameError: a model that is asked for has no run.
    """
    columns = (runs.c.run_id, runs.c.system)
    query = sa.select(*columns).where(runs.c.benchmark == plan.drawn_from).order_by(runs.c.run_id)
    systems = {int(row["run_id"]): str(row["system"]) for row in session.rows(query)}
    if not systems:
        raise RunError(
            f"{plan.drawn_from} has no run that negatives could be drawn from; make one with `pinakes run "
            f"{plan.drawn_from} --system …`."
        )
    missing = sorted(set(request.run_ids) - set(systems))
    if missing:
        known = ", ".join(map(str, systems))
        raise RunError(f"{plan.drawn_from} has no run {missing[0]}; its runs: {known}.")
    named = request.run_ids or tuple({system: run_id for run_id, system in systems.items()}.values())
    chosen = {run_id: systems[run_id] for run_id in sorted(set(named))}
    _check_systems(list(chosen.values()), request)
    return chosen


def _check_systems(systems: Sequence[str], request: ConstructionRequest) -> None:
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
    unknown = [system for system in request.models if system not in systems]
    if unknown:
        raise UnknownNameError("system with a run", unknown[0], list(systems))


def choose_models(
    session: Session,
    blocks: Mapping[str, str],
    plan: ConstructionPlan,
    request: ConstructionRequest,
    sources: Mapping[int, str],
) -> list[ModelChoice]:
    """Every run that was looked at, those that share the fewest negatives first; stored too.

    Needs the table `construction_tops`, and makes it. A single run is chosen without a comparison.

    Raises:
        RunError: a run has no ranking of the first pools, so that nothing can be drawn from it.
    """
    columns = {"run_id": pa.array(list(sources), pa.int64()), "system": pa.array(list(sources.values()))}
    with session.staged({"construction_runs": pa.table(columns)}):
        session.execute(blocks["make_tops"], {"top": plan.top})
        compared = session.rows(blocks["compare_runs"])
    empty = [row for row in compared if not row["queries"]]
    if empty:
        raise RunError(
            f"run {empty[0]['run_id']} ({empty[0]['system']}) ranks no query of the first pools of "
            f"{plan.drawn_from} as they are now; make it anew with `pinakes run {plan.drawn_from} --system "
            "…`, or name other runs with --run."
        )
    wanted = request.models or tuple(row["system"] for row in compared[: plan.model_count])
    choices = [ModelChoice(**row, is_chosen=row["system"] in wanted) for row in compared]
    for choice in choices:
        session.execute(sa.insert(construction_models).values(**_describe(plan, choice)))
    return choices


def _describe(plan: ConstructionPlan, choice: ModelChoice) -> dict[str, Any]:
    return {
        "benchmark": plan.benchmark,
        "run_id": choice.run_id,
        "system": choice.system,
        "mean_jaccard": choice.mean_jaccard,
        "is_chosen": choice.is_chosen,
    }
