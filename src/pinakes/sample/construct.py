"""MDCR's candidates constructed again from stored runs and the citation graph: `pinakes construct`, all SQL.

The types are those of Medić and Šnajder 2022, section 4.1: cited papers, negatives among the best of three
runs, graph neighbours, the most cited papers of the field, random ones. They are filled in that order; a
paper has the type that took it first, and a clash is counted.
"""

import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import RunError
from pinakes.progress import Progress, Silent
from pinakes.sample.bound_blocks import BoundBlocks
from pinakes.sample.construct_plan import (
    CITED,
    CandidateType,
    Clash,
    ConstructionPlan,
    ConstructionRequest,
    ConstructionSummary,
    ModelChoice,
    TypeCount,
    choose_sources,
    list_types,
    plan_construction,
)
from pinakes.schema import (
    constructed_candidates,
    construction_clashes,
    construction_models,
    runs,
    sampled_citations,
    sampled_queries,
    samplings,
)
from pinakes.workload.benchmark import open_benchmark

_WRITTEN: Final = (
    constructed_candidates,
    construction_clashes,
    construction_models,
    sampled_citations,
    sampled_queries,
    samplings,
)
_FIRST: Final = ("queries", "cited", "refused", "links", "papers")
_TEMPORARY: Final = (*_FIRST, "tops", "neighbours", "walk", "numbers", "offers")
_DRAWS: Final = 4
"""random papers dealt to a query for each that it is to keep: some it cites, or another type has taken"""


def construct(
    database: Database, request: ConstructionRequest, *, progress: Progress | None = None
) -> ConstructionSummary:
    """Construct a benchmark's candidates, in place of those that it had; one transaction.

    The same seed, papers, citations and rankings give the same candidates on both databases.

    Raises:
        UnknownNameError: no such benchmark, or no run of a system that was named.
        BenchmarkError: the benchmark is not one that is constructed.
        RunError: the benchmark that it is drawn from is not sampled by field, or has no run that serves.
        InputError: two runs are of one system, one is called as a candidate type is, or `top_of` is unknown.
    """
    started = time.monotonic()
    plan = plan_construction(open_benchmark(database, request.benchmark), request)
    open_benchmark(database, plan.drawn_from)
    with database.begin() as session:
        session.raise_memory()
        sampling = _read_sampling(session, plan)
        sources = choose_sources(_read_systems(session, plan), request, plan.drawn_from)
        work = _Construction(session, plan, progress or Silent())
        models, types = work.make(sampling, sources, request.models)
        counted = work.blocks.rows("count_queries")[0]
        kept = int(counted["kept"])
        counts = {row["source"]: row for row in work.blocks.rows("count_types")}
        clashes = tuple(Clash(**row) for row in work.blocks.rows("list_clashes"))
        work.blocks.drop(*_TEMPORARY)
    database.tidy(table.name for table in _WRITTEN)
    nothing = {"candidates": 0, "complete": 0}
    filled = [(type_.source, counts.get(type_.source, nothing)) for type_ in types]
    return ConstructionSummary(
        benchmark=plan.benchmark,
        drawn_from=plan.drawn_from,
        seed=plan.seed,
        top_of=plan.top_of,
        queries=kept,
        left_out=int(counted["sampled"]) - kept,
        models=tuple(models),
        types=tuple(TypeCount(source, row["candidates"], kept - row["complete"]) for source, row in filled),
        clashes=clashes,
        elapsed_s=time.monotonic() - started,
    )


def _read_sampling(session: Session, plan: ConstructionPlan) -> dict[str, Any]:
    """The row of `samplings` that the construction is drawn from."""
    row = session.first(sa.select(samplings).where(samplings.c.benchmark == plan.drawn_from))
    if row is None:
        command = f"`pinakes sample {plan.drawn_from} --corpus …`"
        raise RunError(f"{plan.drawn_from} has no queries and pools yet; draw them with {command}.")
    if row["assigned_by"] is None:
        raise RunError(
            f"{plan.drawn_from} has no fields, whose most cited papers are candidates; name a benchmark that "
            "is sampled by field with --from, as field_level."
        )
    return row


def _read_systems(session: Session, plan: ConstructionPlan) -> dict[int, str]:
    """Run id -> system, oldest first."""
    columns = sa.select(runs.c.run_id, runs.c.system).where(runs.c.benchmark == plan.drawn_from)
    return {int(row["run_id"]): str(row["system"]) for row in session.rows(columns.order_by(runs.c.run_id))}


class _Construction:
    """One construction, in a transaction of its own."""

    def __init__(self, session: Session, plan: ConstructionPlan, progress: Progress) -> None:
        self._session, self._plan, self._progress = session, plan, progress
        self.blocks = BoundBlocks(session, "construction", {**asdict(plan), "draws": _DRAWS * plan.negatives})

    def make(
        self, sampling: Mapping[str, Any], sources: Mapping[int, str], requested: tuple[str, ...]
    ) -> tuple[list[ModelChoice], list[CandidateType]]:
        """Fill every type; the runs that were compared, and the types."""
        self._progress.start(f"construct {self._plan.benchmark}", len(_TEMPORARY) - 1)
        try:
            self._prepare(sampling)
            models = self._choose_models(sources, requested)
            types = list_types(self._plan, models)
            for number, type_ in enumerate(types):
                self._fill(type_, number)
            for block in ("keep_queries", "drop_candidates", "keep_citations"):
                self.blocks.run(block)
        finally:
            self._progress.finish()
        return models, types

    def _prepare(self, sampling: Mapping[str, Any]) -> None:
        plan = self._plan
        self.blocks.delete_rows(_WRITTEN)
        self.blocks.drop(*_TEMPORARY)
        own = {"benchmark": plan.benchmark, "seed": plan.seed, "validation_count": 0, "repeats": 1}
        self._session.execute(sa.insert(samplings).values(**{**sampling, **own}))
        for name in _FIRST:
            self._make(name)

    def _make(self, table: str, **values: Any) -> None:
        self.blocks.make(table, **values)
        self._progress.advance(1)

    def _choose_models(self, sources: Mapping[int, str], requested: tuple[str, ...]) -> list[ModelChoice]:
        """Every run that was compared, those that share the fewest negatives first; stored too."""
        plan = self._plan
        columns = {"run_id": pa.array(list(sources), pa.int64()), "system": pa.array(list(sources.values()))}
        with self._session.staged({"construction_runs": pa.table(columns)}):
            self._make("tops")
            compared = self.blocks.rows("compare_runs")
        empty = [row for row in compared if not row["queries"]]
        if empty:
            raise RunError(
                f"run {empty[0]['run_id']} ({empty[0]['system']}) ranks no query of the first pools of "
                f"{plan.drawn_from} as they are now; make it again with `pinakes run {plan.drawn_from} "
                "--system …`, or name other runs with --run."
            )
        chosen = requested or tuple(row["system"] for row in compared[: plan.model_count])
        models = [ModelChoice(**row, is_chosen=row["system"] in chosen) for row in compared]
        for model in models:
            row = {"benchmark": plan.benchmark, **asdict(model), "top_of": plan.top_of}
            del row["queries"]
            self._session.execute(sa.insert(construction_models).values(**row))
        return models

    def _fill(self, type_: CandidateType, number: int) -> None:
        """Give a type its papers; `number` counts the types of negatives, it and those before.

        Each of those takes no more than it is to get, so that `offers` papers are enough for any query.
        """
        values = {"source": type_.source, "run_id": type_.run_id, "wanted": type_.wanted}
        values["offers"] = max(type_.wanted, self._plan.negatives * number)
        for name in type_.needs:
            self._make(name, **values)
        self.blocks.make("offers", offered=type_.block, **values)
        for block in ("count_clashes", "take"):
            self.blocks.run(block, **values)
        self.blocks.drop("offers")
        if type_.source == CITED:
            self.blocks.run("drop_unanswerable")
