"""Queries and candidate pools drawn from a corpus: `pinakes sample`, all of it SQL.

The setup is that of Medić and Šnajder 2022, section 3: queries of one year that are not excluded, and for
each repeat one random order of papers, those that the queries cite first, of which a pool of n papers is the
first n. So the pools of a repeat are nested, and hold every cited paper. With fields, each field has queries
and pools of its own, filled with what papers of the field cite. The draw depends on the seed and the papers'
own ids alone.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import BenchmarkError
from pinakes.load.corpus import find_corpus
from pinakes.progress import Progress, Silent
from pinakes.queries.definition import read_benchmark
from pinakes.queries.install import install_benchmark
from pinakes.sample.bound_blocks import BoundBlocks
from pinakes.sample.options import OptionValue
from pinakes.sample.plan import TEST, VALIDATION, Available, SamplePlan, make_plan, plan_pools
from pinakes.schema import (
    check_schema,
    pool_members,
    pools,
    sampled_citations,
    sampled_queries,
    sampling_exclusions,
    samplings,
)
from pinakes.settings import read_settings

_WRITTEN: Final = (samplings, sampling_exclusions, sampled_queries, sampled_citations, pools, pool_members)
_TEMPORARY: Final = (
    *("links", "papers", "citing", "fields", "cited", "sets", "cited_sets", "scope", "sizes"),
    *("bounds", "members"),
)
_SPARE: Final = (8, 10**9)
"""standard deviations by which more papers are sorted than a pool has; then, where those are too few, all"""


@dataclass(frozen=True, slots=True)
class PoolSummary:
    """One pool: what was requested, and what the corpus gave."""

    pool: str
    fold: str
    field: str | None
    queries: int
    requested_size: int
    size: int
    cited: int


@dataclass(frozen=True, slots=True)
class SampleSummary:
    """What was drawn.

    Attributes:
        funnel: papers that each condition of the pre-filter leaves, one after the other; the year's is last.
        queries: test queries; requested_queries: what was requested, over all fields.
        excluded: ids of the exclusion lists, and how many of them the corpus holds.
    """

    benchmark: str
    corpus: str
    funnel: Mapping[str, int]
    excluded: int
    excluded_held: int
    queries: int
    validation_queries: int
    requested_queries: int
    pools: tuple[PoolSummary, ...]
    elapsed_s: float


def sample(
    database: Database,
    benchmark_name: str,
    corpus: str,
    given: Mapping[str, OptionValue] | None = None,
    *,
    progress: Progress | None = None,
) -> SampleSummary:
    """Draw a benchmark's queries and pools from a corpus, in place of those that it had; one transaction.

    `given` are options by the names of `SampleOptions`, in place of those of the benchmark's `[sampling]`.

    Raises:
        UnknownNameError: no such benchmark, corpus or option.
        BenchmarkError: the benchmark is not one that is sampled, or no paper of the corpus can be a query.
        InputError: an option or a file is not as it should be.
    """
    started = time.monotonic()
    check_schema(database)
    benchmark = read_benchmark(benchmark_name, read_settings().benchmark_folders)
    plan = make_plan(benchmark, given or {})
    install_benchmark(database, benchmark)
    with database.begin() as session:
        session.raise_memory()
        drawing = _Drawing(session, plan, find_corpus(session, corpus), progress or Silent())
        available = drawing.draw()
        made = drawing.store_pools(available)
        funnel, excluded_held = drawing.count_funnel(), drawing.count("excluded")
        drawing.blocks.drop(*_TEMPORARY)
    database.tidy(table.name for table in _WRITTEN)
    tests = [one.queries for one in available if one.fold == TEST]
    return SampleSummary(
        benchmark=plan.benchmark,
        corpus=corpus,
        funnel=funnel,
        excluded=len(plan.excluded),
        excluded_held=excluded_held,
        queries=sum(tests),
        validation_queries=sum(one.queries for one in available if one.fold == VALIDATION),
        requested_queries=plan.options.queries * len(tests),
        pools=made,
        elapsed_s=time.monotonic() - started,
    )


class _Drawing:
    """One sample being drawn, in a transaction of its own."""

    def __init__(self, session: Session, plan: SamplePlan, corpus_id: int, progress: Progress) -> None:
        self._session, self._plan, self._progress = session, plan, progress
        seed = plan.options.seed
        self._row = {**plan.options.stored_columns(), "benchmark": plan.benchmark, "corpus_id": corpus_id}
        keys = {"query_key": f"queries:{seed}", "fold_key": f"fold:{seed}"}
        self.blocks = BoundBlocks(session, "sampling", {**self._row, **keys})

    def draw(self) -> list[Available]:
        """Draw the queries, and the random orders of papers that pools are cut from."""
        orders = self._plan.list_orders()
        self._progress.start(f"sample {self._plan.benchmark}", 3 + len(orders))
        try:
            self._store_plan()
            self._make("links", "papers", "citing")
            self.blocks.run("draw_queries")
            self.blocks.run("keep_citations")
            # Else Postgres compares every query with every citation.
            self.blocks.count_rows(sampled_queries.name, sampled_citations.name)
            self._make("fields", "cited")
            self._make("sets", "cited_sets", "scope", "sizes")
            for fold, repeat in orders:
                self._draw_members(fold, repeat)
            return [Available(**row) for row in self.blocks.rows("count_available")]
        finally:
            self._progress.finish()

    def _store_plan(self) -> None:
        self.blocks.delete_rows(_WRITTEN)
        self.blocks.drop(*_TEMPORARY)
        self._session.execute(sa.insert(samplings).values(**self._row))
        benchmarks = pa.array([self._plan.benchmark] * len(self._plan.excluded), pa.string())
        columns = {"benchmark": benchmarks, "source_id": pa.array(self._plan.excluded, pa.string())}
        self._session.insert(sampling_exclusions, pa.table(columns))

    def _make(self, *tables: str) -> None:
        for table in tables:
            self.blocks.make(table)
        self._progress.advance(1)

    def _draw_members(self, fold: str, repeat: int) -> None:
        order = f"{fold}/{repeat}"
        key, largest = f"{order}:{self._plan.options.seed}", self._plan.list_sizes(fold)[-1]
        for spare in _SPARE:
            self.blocks.drop("bounds", "members")
            self.blocks.make("bounds", largest=largest, spare=spare)
            self.blocks.make("members", fold=fold, member_key=key, largest=largest)
            if not self.blocks.rows("count_short", largest=largest)[0]["fields"]:
                break
        self.blocks.run("keep_members", sample=order)
        self._progress.advance(1)

    def store_pools(self, available: Sequence[Available]) -> tuple[PoolSummary, ...]:
        """Cut the pools from the orders of papers; what no pool holds is deleted."""
        if not any(one.fold == TEST for one in available):
            options = self._plan.options
            raise BenchmarkError(
                f"no paper of the year {options.year} can be a query: {self.count('prefiltered')} papers "
                f"until then pass the pre-filter; a query cites at least {options.min_cited} that the "
                "corpus holds. Choose another --year, or a weaker pre-filter."
            )
        planned = [(pool, one) for one in available for pool in plan_pools(self._plan, one)]
        for pool, _ in planned:
            self._session.execute(sa.insert(pools).values(benchmark=self._plan.benchmark, **asdict(pool)))
        self.blocks.run("drop_unused_members")
        return tuple(
            PoolSummary(
                pool.pool, pool.fold, pool.field, one.queries, pool.requested_size, pool.size, one.cited
            )
            for pool, one in planned
        )

    def count_funnel(self) -> dict[str, int]:
        """How many papers each condition of the pre-filter leaves."""
        counted = {name: int(value) for name, value in self.blocks.rows("count_funnel")[0].items()}
        return {**counted, "with_citations_until_year": self.count("prefiltered")}

    def count(self, what: str) -> int:
        """How many papers are `prefiltered`, or how many `excluded` ones the corpus holds."""
        return int(self.blocks.rows(f"count_{what}")[0]["papers"])
