"""The k1 and b of BM25 that rank a benchmark's validation queries best, stored for later runs.

One index serves the whole grid.
"""

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
from pinakes.run.tune_scores import ValidationScores
from pinakes.run.validation import ValidationQueries, find_validation
from pinakes.systems.base import Ranking, SystemOptions
from pinakes.systems.sparse import K1, NAME, B, SparseBm25System, open_pools, rank_texts
from pinakes.systems.tuned import GridPoint, store_choice
from pinakes.workload.benchmark import find_index_folder, open_benchmark
from pinakes.workload.workload import Workload, read_workload

K1_GRID: Final = (0.6, 0.9, 1.2, 1.5, 2.0, 3.0)
B_GRID: Final = (0.2, 0.4, 0.6, 0.75, 0.9)

Pair = tuple[float, float]
Ranker = Callable[[float, float], Iterable[Ranking]]


@dataclass(frozen=True, slots=True)
class TuneSummary:
    """What was tried on which queries, and the choice.

    Attributes:
        validation: which queries, in words; where it names a part of the benchmark's own, report the rest.
        points: every pair with the mean of the measure, in the order of the grid.
    """

    benchmark: str
    system: str
    measure: str
    validation: str
    query_count: int
    points: tuple[GridPoint, ...]
    chosen: GridPoint
    elapsed_s: float


def tune_bm25(
    database: Database,
    benchmark_name: str,
    k1_grid: Sequence[float] = K1_GRID,
    b_grid: Sequence[float] = B_GRID,
    measure: str | None = None,
    *,
    options: SystemOptions | None = None,
    query_template: str | None = None,
    paper_template: str | None = None,
    progress: Progress | None = None,
    clock: Clock = utc_now,
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
    pairs = _check_grid(k1_grid, b_grid)
    benchmark = open_benchmark(database, benchmark_name)
    name = parse_measure(measure or benchmark.headline_measure).name
    system = SparseBm25System(NAME, options or SystemOptions(find_index_folder(database)))
    workload = read_workload(database, benchmark, query_template, paper_template, tuning=True)
    index = system.open_index(database, workload)
    requested = find_validation(database, workload)
    points = _try_all(index, _cut(workload, name), requested, pairs, name, progress or Silent())
    chosen = min(points, key=lambda point: (-point.value, abs(point.k1 - K1) + abs(point.b - B), point.k1))
    store_choice(
        database,
        workload,
        NAME,
        system.settings(workload),
        points,
        chosen,
        measure=name,
        validation=requested.described,
        query_count=len(requested.texts),
        tuned_at=clock(),
    )
    elapsed_s = time.monotonic() - started
    return TuneSummary(
        benchmark_name,
        NAME,
        name,
        requested.described,
        len(requested.texts),
        tuple(points),
        chosen,
        elapsed_s,
    )


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
    measure: str,
    progress: Progress,
) -> list[GridPoint]:
    totals = dict.fromkeys(pairs, 0.0)
    scores = ValidationScores(workload, requested, measure)
    progress.start(
        f"tune {NAME} on {workload.benchmark.name}",
        len(pairs) * (len(workload.groups) if workload.groups else 1),
    )
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
