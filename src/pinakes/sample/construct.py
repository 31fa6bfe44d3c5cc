"""MDCR's candidates constructed anew from stored runs and the citation graph: `pinakes construct`, all SQL.

The types are those of Medić and Šnajder 2022, section 4.1: cited papers, the best negatives of three runs,
graph neighbours, the most cited papers of the field, random ones. They are filled in that order; a paper has
the type that took it first, and a clash is counted.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.schema import DropTable

from pinakes.database import Database, Session
from pinakes.database.sql_blocks import read_blocks
from pinakes.errors import BenchmarkError, RunError
from pinakes.progress import Progress, Silent
from pinakes.queries.definition import Benchmark
from pinakes.sample.bound_blocks import BoundBlocks
from pinakes.sample.construct_models import (
    CITED,
    GRAPH,
    MOST_CITED,
    RANDOM,
    choose_models,
    find_sources,
)
from pinakes.sample.construct_records import (
    Clash,
    ConstructionPlan,
    ConstructionRequest,
    ConstructionSummary,
    ModelChoice,
    TypeCount,
)
from pinakes.schema import (
    constructed_candidates,
    construction_clashes,
    construction_models,
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
_FIRST: Final = ("queries", "cited", "refused", "papers", "links")
_TEMPORARY: Final = (*_FIRST, "tops", "neighbours", "walk", "numbers", "offers")
_DRAWS: Final = 4
"""random papers dealt to a query for each that it is to keep: some it cites, or another type has taken"""


@dataclass(frozen=True, slots=True)
class _Type:
    """A candidate type: the block that makes its offers, how many a query gets, and what the block reads."""

    source: str
    block: str
    wanted: int
    run_id: int | None = None
    needs: tuple[str, ...] = ()


def construct(
    database: Database, request: ConstructionRequest, *, progress: Progress | None = None
) -> ConstructionSummary:
    """Construct a benchmark's candidates, in place of those that it had; one transaction.

    The same seed, papers, citations and rankings give the same candidates on both databases.

    Raises:
        UnknownNameError: no such benchmark, or no run of a system that was named.
        BenchmarkError: the benchmark is not one that is constructed.
        RunError: the benchmark that it is drawn from is not sampled by field, or has no run that serves.
        InputError: two runs are of one system, or a system is called as a candidate type is.
    """
    started = time.monotonic()
    plan = _make_plan(open_benchmark(database, request.benchmark), request)
    open_benchmark(database, plan.drawn_from)
    with database.begin() as session:
        work = _Construction(session, plan, progress or Silent())
        _check_sampled(session, plan)
        models = work.make(request)
        counted = work.count_queries()
        kept = counted["kept"]
        types, clashes = work.count_types(kept), work.list_clashes()
        work.drop_temporary()
    return ConstructionSummary(
        benchmark=plan.benchmark,
        drawn_from=plan.drawn_from,
        seed=plan.seed,
        queries=kept,
        left_out=counted["sampled"] - kept,
        models=models,
        types=types,
        clashes=clashes,
        elapsed_s=time.monotonic() - started,
    )


def _make_plan(benchmark: Benchmark, request: ConstructionRequest) -> ConstructionPlan:
    defaults = benchmark.sampling or {}
    if "from" not in defaults:
        raise BenchmarkError(
            f"{benchmark.name} is not constructed; expected a benchmark whose benchmark.toml has a table "
            "[sampling] with `from`, as mdcr_constructed."
        )
    return ConstructionPlan(
        benchmark=benchmark.name,
        drawn_from=request.drawn_from or defaults["from"],
        seed=request.seed or defaults["seed"],
        model_count=defaults["models"],
        top=defaults["top"],
        cited=defaults["cited"],
        negatives=defaults["negatives"],
        most_cited=defaults["most_cited"],
    )


def _check_sampled(session: Session, plan: ConstructionPlan) -> None:
    query = sa.select(samplings.c.assigned_by).where(samplings.c.benchmark == plan.drawn_from)
    row = session.first(query)
    if row is None:
        command = f"`pinakes sample {plan.drawn_from} --corpus …`"
        raise RunError(f"{plan.drawn_from} has no queries and pools yet; draw them with {command}.")
    if row["assigned_by"] is None:
        raise RunError(
            f"{plan.drawn_from} has no fields, whose most cited papers are candidates; name a benchmark that "
            "is sampled by field with --from, as field_level."
        )


class _Construction:
    """One construction, in a transaction of its own."""

    def __init__(self, session: Session, plan: ConstructionPlan, progress: Progress) -> None:
        self._session, self._plan, self._progress = session, plan, progress
        self._blocks = read_blocks("pinakes.sample", "sql", "construction.sql")
        self._types: list[_Type] = []
        values = {
            "benchmark": plan.benchmark,
            "drawn_from": plan.drawn_from,
            "seed": plan.seed,
            "top": plan.top,
            "cited": plan.cited,
            "negatives": plan.negatives,
            "most_cited": plan.most_cited,
            "draws": _DRAWS * plan.negatives,
        }
        self._bound = BoundBlocks(session, self._blocks, values)

    def make(self, request: ConstructionRequest) -> tuple[ModelChoice, ...]:
        """Fill every type; the runs that were looked at."""
        sources = find_sources(self._session, self._plan, request)
        self._progress.start(f"construct {self._plan.benchmark}", len(_TEMPORARY) - 1)
        try:
            self._prepare()
            models = choose_models(self._session, self._blocks, self._plan, request, sources)
            self._analyse("tops")
            self._types = self._list_types(models)
            for number, type_ in enumerate(self._types):
                self._fill(type_, number)
            for block in ("keep_queries", "drop_candidates", "keep_citations"):
                self._bound.run(block)
        finally:
            self._progress.finish()
        return tuple(models)

    def _prepare(self) -> None:
        for table in _WRITTEN:
            self._session.execute(sa.delete(table).where(table.c.benchmark == self._plan.benchmark))
        self.drop_temporary()
        self._bound.run("copy_sampling")
        for name in _FIRST:
            self._make(name)

    def _make(self, name: str, **values: Any) -> None:
        self._bound.run(f"make_{name}", **values)
        self._analyse(name)

    def _analyse(self, name: str) -> None:
        """Tell the planner how many rows a temporary table has: nothing else would, before the commit."""
        self._session.execute(f"ANALYZE construction_{name}")
        self._progress.advance(1)

    def _list_types(self, models: Sequence[ModelChoice]) -> list[_Type]:
        """The types in the order in which they take papers."""
        plan = self._plan
        drawn = [
            _Type(model.system, "offer_model", plan.negatives, run_id=model.run_id)
            for model in models
            if model.is_chosen
        ]
        return [
            _Type(CITED, "offer_cited", plan.cited),
            *drawn,
            _Type(GRAPH, "offer_graph", plan.negatives, needs=("neighbours", "walk")),
            _Type(MOST_CITED, "offer_most_cited", plan.negatives),
            _Type(RANDOM, "offer_random", plan.negatives, needs=("numbers",)),
        ]

    def _fill(self, type_: _Type, number: int) -> None:
        """Give a type its papers; `number` counts the types of negatives, it and those before.

        Each of those takes no more than it is to get, so that `offers` papers are enough for any query.
        """
        values = {"source": type_.source, "run_id": type_.run_id, "wanted": type_.wanted}
        values["offers"] = self._plan.negatives * number
        for name in type_.needs:
            self._make(name, **values)
        self._bound.run(type_.block, **values)
        self._session.execute("ANALYZE construction_offers")
        self._bound.run("count_clashes", **values)
        self._bound.run("take", **values)
        self._drop("offers")
        if type_.source == CITED:
            self._bound.run("drop_unanswerable")

    def count_queries(self) -> dict[str, int]:
        """The queries of the benchmark that was drawn from, and those that were kept."""
        return {name: int(count) for name, count in self._bound.rows("count_queries")[0].items()}

    def count_types(self, kept: int) -> tuple[TypeCount, ...]:
        """The types in the order in which they were filled, with what they lack."""
        found = {row["source"]: row for row in self._bound.rows("count_types")}
        nothing = {"candidates": 0, "complete": 0}
        counted = [(type_.source, found.get(type_.source, nothing)) for type_ in self._types]
        return tuple(TypeCount(source, row["candidates"], kept - row["complete"]) for source, row in counted)

    def list_clashes(self) -> tuple[Clash, ...]:
        """How often two types claimed one paper."""
        return tuple(Clash(**row) for row in self._bound.rows("list_clashes"))

    def drop_temporary(self) -> None:
        """Take away the tables that only the construction needs."""
        for name in _TEMPORARY:
            self._drop(name)

    def _drop(self, name: str) -> None:
        self._session.execute(DropTable(sa.Table(f"construction_{name}", sa.MetaData()), if_exists=True))
