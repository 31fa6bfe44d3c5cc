"""Queries and candidate pools drawn from a corpus: `pinakes sample`, all of it SQL.

The setup is that of Medić and Šnajder 2022, section 3: queries of one year that are not excluded, and for
each repeat one random order of papers, those that the queries cite first, of which a pool of n papers is the
first n. So the pools of a repeat are nested, and hold every cited paper. With fields, each field has queries
and pools of its own, filled with what papers of the field cite. The draw depends on the seed and the papers'
own ids alone.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.database.sql_blocks import read_blocks
from pinakes.errors import BenchmarkError
from pinakes.load.corpus import find_corpus
from pinakes.progress import Progress, Silent
from pinakes.queries.definition import read_benchmark
from pinakes.queries.install import install_benchmark
from pinakes.sample.bound_blocks import BoundBlocks
from pinakes.sample.plan import SamplePlan, SampleRequest, make_plan
from pinakes.schema import check_schema, pools, sampling_exclusions, samplings
from pinakes.settings import read_settings

__all__ = ["PoolSummary", "SampleRequest", "SampleSummary", "sample"]

_TEMPORARY: Final = ("links", "papers", "scope", "cited")
_FORGET: Final = ("samplings", "exclusions", "queries", "citations", "pools", "members")
TEST: Final = "test"
VALIDATION: Final = "validation"


@dataclass(frozen=True, slots=True)
class PoolSummary:
    """One pool: what was asked for, and what the corpus gave."""

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
        queries: test queries; requested_queries: what was asked for, over all fields.
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


def sample(database: Database, request: SampleRequest, *, progress: Progress | None = None) -> SampleSummary:
    """Draw a benchmark's queries and pools from a corpus, in place of those that it had; one transaction.

    Raises:
        UnknownNameError: no such benchmark or corpus.
        BenchmarkError: the benchmark is not one that is sampled, or no paper of the corpus can be a query.
        InputError: a number or a file is not as it should be.
    """
    started = time.monotonic()
    check_schema(database)
    benchmark = read_benchmark(request.benchmark, read_settings().benchmark_folders)
    plan = make_plan(benchmark, request)
    install_benchmark(database, benchmark)
    with database.begin() as session:
        corpus_id = find_corpus(session, request.corpus)
        drawn = _Draw(session, plan, corpus_id, progress or Silent())
        made = drawn.make()
        funnel, excluded_held = drawn.count_funnel(), drawn.count_excluded()
        drawn.drop_temporary()
    by_fold = {fold: sum(_count_queries(made, fold)) for fold in (TEST, VALIDATION)}
    return SampleSummary(
        benchmark=plan.benchmark,
        corpus=request.corpus,
        funnel=funnel,
        excluded=len(plan.exclude),
        excluded_held=excluded_held,
        queries=by_fold[TEST],
        validation_queries=by_fold[VALIDATION],
        requested_queries=plan.query_count * len(_count_queries(made, TEST)),
        pools=tuple(made),
        elapsed_s=time.monotonic() - started,
    )


def _count_queries(made: Sequence[PoolSummary], fold: str) -> list[int]:
    """The queries of each field of a fold (of the fold itself where there are no fields)."""
    return list({pool.field: pool.queries for pool in made if pool.fold == fold}.values())


class _Draw:
    """One sample being drawn, in a transaction of its own."""

    def __init__(self, session: Session, plan: SamplePlan, corpus_id: int, progress: Progress) -> None:
        self._session, self._plan, self._progress = session, plan, progress
        self._corpus_id = corpus_id
        values = {
            "benchmark": plan.benchmark,
            "corpus_id": corpus_id,
            "year": plan.year,
            "min_abstract": plan.min_abstract,
            "min_cited": plan.min_cited,
            "assigned_by": plan.assigned_by,
            "query_count": plan.query_count,
            "validation_count": plan.validation_count,
            "query_key": f"queries:{plan.seed}",
            "fold_key": f"fold:{plan.seed}",
        }
        blocks = read_blocks("pinakes.sample", "sql", "sampling.sql")
        self._blocks = BoundBlocks(session, blocks, values)

    def make(self) -> list[PoolSummary]:
        """Draw queries, then pools; the pools."""
        orders = [(TEST, repeat) for repeat in range(1, self._plan.repeats + 1)]
        if self._plan.validation_count:
            orders.append((VALIDATION, 1))
        self._progress.start(f"sample {self._plan.benchmark}", 3 + len(orders))
        try:
            self._prepare()
            self._draw_queries()
            for fold, repeat in orders:
                self._draw_members(fold, repeat)
            return self._store_pools(orders)
        finally:
            self._progress.finish()

    def _prepare(self) -> None:
        for part in _FORGET:
            self._blocks.run(f"forget_{part}")
        self.drop_temporary()
        for table in _TEMPORARY:
            self._blocks.run(f"make_{table}")
        plan = self._plan
        row = {name: getattr(plan, name) for name in samplings.c.keys() if name != "corpus_id"}  # noqa: SIM118
        self._session.execute(sa.insert(samplings).values(**row, corpus_id=self._corpus_id))
        excluded = {"benchmark": [plan.benchmark] * len(plan.exclude), "source_id": list(plan.exclude)}
        columns = {name: pa.array(values, pa.string()) for name, values in excluded.items()}
        self._session.insert(sampling_exclusions, pa.table(columns))
        self._fill("papers")
        self._fill("links")
        self._progress.advance(1)

    def _fill(self, table: str) -> None:
        self._blocks.run(f"fill_{table}")
        self._blocks.run(f"analyse_{table}")

    def _draw_queries(self) -> None:
        self._blocks.run("draw_queries")
        self._blocks.run("keep_citations")
        self._fill("cited")
        self._progress.advance(1)
        self._fill("scope")
        self._progress.advance(1)

    def _draw_members(self, fold: str, repeat: int) -> None:
        plan = self._plan
        largest = plan.pool_sizes[-1] if fold == TEST else plan.validation_pool_size
        sample = f"{fold}/{repeat}"
        self._blocks.run(
            "draw_members", fold=fold, sample=sample, member_key=f"{sample}:{plan.seed}", largest=largest
        )
        self._progress.advance(1)

    def _store_pools(self, orders: Sequence[tuple[str, int]]) -> list[PoolSummary]:
        available = self._blocks.rows("count_available")
        if not any(row["fold"] == TEST for row in available):
            raise BenchmarkError(
                f"no paper of the year {self._plan.year} can be a query: {self._count_prefiltered()} papers "
                f"until then pass the pre-filter; a query cites at least {self._plan.min_cited} that the "
                "corpus holds. Choose another --year, or a weaker pre-filter."
            )
        made = [found for row in available for found in self._plan_pools(row, orders)]
        for row, _ in made:
            self._session.execute(sa.insert(pools).values(**row))
        self._blocks.run("drop_unused_members")
        return [summary for _, summary in made]

    def _plan_pools(
        self, available: Mapping[str, Any], orders: Sequence[tuple[str, int]]
    ) -> Iterator[tuple[dict[str, Any], PoolSummary]]:
        """The pools of one fold and field: of each size, repeated where the papers are more than that."""
        fold, named = str(available["fold"]), str(available["field"])
        sizes = self._plan.pool_sizes if fold == TEST else (self._plan.validation_pool_size,)
        prefix = f"{named.replace(' ', '_')}/" if named else ""
        cited, most = int(available["cited"]), int(available["available"])
        for requested in sizes:
            for _, repeat in [order for order in orders if order[0] == fold]:
                if repeat > 1 and most <= requested:
                    continue
                size = max(cited, min(requested, most))
                between = "" if fold == TEST else f"{VALIDATION}/"
                pool = f"{prefix}{between}{requested}/{repeat}"
                row = {
                    "benchmark": self._plan.benchmark,
                    "pool": pool,
                    "sample": f"{prefix}{fold}/{repeat}",
                    "requested_size": requested,
                    "size": size,
                    "repeat": repeat,
                    "field": named or None,
                    "fold": fold,
                }
                queries = int(available["queries"])
                yield row, PoolSummary(pool, fold, named or None, queries, requested, size, cited)

    def count_funnel(self) -> dict[str, int]:
        """How many papers each condition of the pre-filter leaves."""
        counted = {name: int(value) for name, value in self._blocks.rows("count_funnel")[0].items()}
        return {**counted, "with_citations_until_year": self._count_prefiltered()}

    def _count_prefiltered(self) -> int:
        return int(self._blocks.rows("count_prefiltered")[0]["papers"])

    def count_excluded(self) -> int:
        """How many of the excluded papers the corpus holds."""
        return int(self._blocks.rows("count_excluded")[0]["papers"])

    def drop_temporary(self) -> None:
        """Take away the tables that only the draw needs."""
        for table in _TEMPORARY:
            self._blocks.run(f"drop_{table}")
