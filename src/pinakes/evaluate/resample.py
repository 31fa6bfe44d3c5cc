"""Values of runs over resamples of a benchmark's test papers or queries: for intervals and paired tests."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.evaluate.query_groups import read_requested_queries
from pinakes.evaluators.bootstrap import Resampling, Values, resample_means
from pinakes.queries.definition import Benchmark
from pinakes.records import Score
from pinakes.schema import scores
from pinakes.tasks.base import Resampled, find_task


class ResampleScored(Protocol):
    """Gives the values of a run over resamples; its scores are read where they are not given."""

    def __call__(self, run_id: int, found: Iterable[Score] | None = None) -> Resampled:
        """Subset and measure -> values."""


def open_resampling(database: Database, benchmark: Benchmark, measures: Sequence[str]) -> ResampleScored:
    """What gives the values of a run over resamples, of its answers or else of its scores of queries.

    The resamples are the same for every run, so that differences of runs are paired.
    """
    task = find_task(benchmark)
    if task.open_resampling is not None:
        resample_run = task.open_resampling(database, benchmark, measures)
        return lambda run_id, found=None: resample_run(run_id)
    names = set(map(task.name_measure, measures))
    requested = read_requested_queries(database, benchmark.name)

    def resample(run_id: int, found: Iterable[Score] | None = None) -> Resampled:
        scored = _read_scores(database, run_id, names) if found is None else found
        return resample_queries(benchmark.name, scored, requested)

    return resample


def _read_scores(database: Database, run_id: int, measures: Iterable[str]) -> list[Score]:
    query = sa.select(
        scores.c.measure,
        scores.c.subset,
        scores.c.query_id,
        scores.c.value,
        scores.c.queries_expected,
        scores.c.queries_answered,
    ).where(scores.c.run_id == run_id, scores.c.measure.in_(sorted(measures)))
    with database.read() as session:
        return [Score(*row) for row in session.stream_rows(query)]


def resample_queries(benchmark: str, found: Iterable[Score], requested: Mapping[str, str]) -> Resampled:
    """The mean of each measure and subset over resamples of its queries, from scores of queries and subsets.

    Those that ask one query in several pools (`requested`) are drawn together. A measure that is no mean of
    its queries, as a count, has none; nor has a subset of a single query.
    """
    values: dict[tuple[str, str], dict[str, float]] = {}
    means = {}
    for score in found:
        if score.query_id is None:
            means[score.subset, score.measure] = score.value
        else:
            values.setdefault((score.subset, score.measure), {})[score.query_id] = score.value
    together: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for key, by_query in values.items():
        mean = math.fsum(by_query.values()) / len(by_query)
        if key in means and math.isclose(means[key], mean, rel_tol=1e-9, abs_tol=1e-12):
            together.setdefault(tuple(sorted(by_query)), []).append(key)
    resampled: dict[tuple[str, str], Values] = {}
    for query_ids, keys in together.items():
        units = _group_units(query_ids, requested)
        if len(units.sizes) < 2:
            continue
        rows = np.array([[values[key][query_id] for query_id in query_ids] for key in keys])
        sums = np.add.reduceat(rows[:, units.order], units.starts, axis=1)
        drawn = resample_means(Resampling(benchmark, len(units.sizes)), sums, units.sizes)
        resampled |= dict(zip(keys, drawn, strict=True))
    return resampled


def resample_figures(benchmark: Benchmark, resampled: Resampled) -> dict[int, Values]:
    """Figure of the benchmark's suite -> its values over resamples (samples,), if all its scores have some.

    A figure is the mean of its scores, on the same resamples.
    """
    figures = benchmark.suite.figures if benchmark.suite is not None else ()
    named = [
        [(subset, find_task(benchmark).name_measure(measure)) for subset, measure in figure]
        for figure in figures
    ]
    return {
        number: np.mean([resampled[key] for key in keys], axis=0)
        for number, keys in enumerate(named, start=1)
        if all(key in resampled for key in keys)
    }


class _Units(NamedTuple):
    """What is drawn: the queries in the order of their units, where each unit starts, and its queries."""

    order: np.ndarray[tuple[int], np.dtype[np.intp]]
    starts: np.ndarray[tuple[int], np.dtype[np.intp]]
    sizes: np.ndarray[tuple[int], np.dtype[np.float64]]


def _group_units(query_ids: Sequence[str], requested: Mapping[str, str]) -> _Units:
    named = [requested.get(query_id, query_id) for query_id in query_ids]
    place = {name: number for number, name in enumerate(sorted(set(named)))}
    unit = np.array([place[name] for name in named])
    sizes = np.bincount(unit)
    return _Units(np.argsort(unit, kind="stable"), np.cumsum(sizes) - sizes, sizes.astype(float))
