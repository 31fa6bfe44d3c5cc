"""The k1 and b of BM25 that rank a benchmark's validation queries best, stored for later runs."""

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from pinakes.clock import Clock, utc_now
from pinakes.database import Database
from pinakes.errors import InputError
from pinakes.evaluators.registry import parse_measure
from pinakes.indexers.sparse_bm25.index import LARGEST_K1, SparseBm25Index
from pinakes.progress import Progress, Silent
from pinakes.queries.definition import require_task
from pinakes.queries.tasks import RANKING
from pinakes.systems.base import Ranking, SystemOptions
from pinakes.systems.sparse import K1, NAME, B, SparseBm25System, open_pools, rank_texts
from pinakes.systems.tuned import GridPoint, TuneSummary, store_choice
from pinakes.tune.validation import ValidationQueries, ValidationScores, find_validation
from pinakes.workload.benchmark import find_index_folder, open_benchmark
from pinakes.workload.workload import Workload, read_workload

K1_GRID: Final = (0.6, 0.9, 1.2, 1.5, 2.0, 3.0)
B_GRID: Final = (0.2, 0.4, 0.6, 0.75, 0.9)

Pair = tuple[float, float]
Ranker = Callable[[float, float], Iterable[Ranking]]


@dataclass(frozen=True, slots=True)
class TuneRequest:
    """Which pairs to try on which benchmark; None: as the benchmark says."""

    benchmark: str
    k1_grid: Sequence[float] = K1_GRID
    b_grid: Sequence[float] = B_GRID
    measure: str | None = None
    options: SystemOptions | None = None
    query_template: str | None = None
    paper_template: str | None = None


def tune_bm25(
    database: Database, request: TuneRequest, *, progress: Progress | None = None, clock: Clock = utc_now
) -> TuneSummary:
    """Rank the validation queries with every pair, and store each mean and the best pair.

    The measure is the benchmark's headline unless one is named; among equals the pair nearest to 1.2 and
    0.75 is chosen. A run of `sparse_bm25` without k1 and b takes it from then on.

    Raises:
        UnknownNameError: no such benchmark, measure or template.
        InputError: the grid is empty, or holds what k1 or b cannot be.
        RunError: the index is missing or stale; the message has the command that makes it.
    """
    started = time.monotonic()
    pairs = _check_grid(request.k1_grid, request.b_grid)
    benchmark = open_benchmark(database, request.benchmark)
    require_task(benchmark, RANKING)
    measure = parse_measure(request.measure or benchmark.headline_measure).name
    system = SparseBm25System(NAME, request.options or SystemOptions(find_index_folder(database)))
    templates = (request.query_template, request.paper_template)
    workload = read_workload(database, benchmark, *templates, tuning=True)
    index = system.open_index(database, workload)
    requested = find_validation(database, workload)
    cut = _cut(workload, measure)
    scores = ValidationScores(cut, requested, measure)
    points = _try_all(index, cut, requested, pairs, scores, progress or Silent())
    summary = TuneSummary(
        benchmark=request.benchmark,
        system=NAME,
        measure=measure,
        validation=requested.described,
        query_count=len(requested.texts),
        points=tuple(points),
        chosen=min(points, key=lambda one: (-one.value, abs(one.k1 - K1) + abs(one.b - B), one.k1)),
        elapsed_s=time.monotonic() - started,
    )
    store_choice(database, workload, summary, system.settings(workload), clock())
    return summary


def _check_grid(k1_grid: Sequence[float], b_grid: Sequence[float]) -> list[Pair]:
    pairs = sorted(set(itertools.product(map(float, k1_grid), map(float, b_grid))))
    wrong = [pair for pair in pairs if not (0 <= pair[0] <= LARGEST_K1 and 0 <= pair[1] <= 1)]
    if wrong or not pairs:
        raise InputError(
            f"the grid of k1 {list(k1_grid)} and b {list(b_grid)} cannot be tried; expected at least one of "
            f"each, k1 from 0 to {LARGEST_K1:,}, and b from 0 to 1."
        )
    return pairs


def _cut(workload: Workload, measure: str) -> Workload:
    """The workload with no deeper rankings than the measure looks at; a pool of its own is ranked whole."""
    parsed = parse_measure(measure)
    looks_at_ranks = parsed.family.cutoff in ("rank", "optional_rank") and isinstance(parsed.cutoff, int)
    if workload.pools is not None or not looks_at_ranks:
        return workload
    return replace(workload, benchmark=replace(workload.benchmark, depth=int(parsed.cutoff or 0)))


def _try_all(
    index: SparseBm25Index,
    workload: Workload,
    requested: ValidationQueries,
    pairs: Sequence[Pair],
    scores: ValidationScores,
    progress: Progress,
) -> list[GridPoint]:
    totals = dict.fromkeys(pairs, 0.0)
    pool_count = len(workload.groups) if workload.groups else 1
    progress.start(f"tune {NAME} on {workload.benchmark.name}", len(pairs) * pool_count)
    try:
        for rank in _open_rankers(index, workload, requested):
            for pair in pairs:
                totals[pair] += scores.add_up(rank(*pair))
                progress.advance(1)
            del rank
    finally:
        progress.finish()
    return [GridPoint(*pair, total / len(requested.texts)) for pair, total in totals.items()]


def _open_rankers(
    index: SparseBm25Index, workload: Workload, requested: ValidationQueries
) -> Iterator[Ranker]:
    """What ranks the queries by a k1 and b: one for all of them, or for each of the grouped pools."""
    if workload.groups is not None:
        for search in open_pools(index, workload):
            yield search.rank
            del search  # its postings, before the next pool's
        return
    query_ids, texts = list(requested.texts), list(requested.texts.values())

    def rank(k1: float, b: float) -> Iterator[Ranking]:
        found = rank_texts(index, workload, query_ids, texts, k1, b)
        for query_id, one in zip(query_ids, found, strict=True):
            yield Ranking(query_id, np.searchsorted(workload.paper_ids, one.paper_ids), one.scores)

    yield rank
