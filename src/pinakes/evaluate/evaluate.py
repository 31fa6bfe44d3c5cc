"""Stored answers and the judgments as they are now to stored scores and an event; they replace older ones."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pyarrow as pa
import sqlalchemy as sa

from pinakes.clock import Clock, utc_now
from pinakes.database import Database, Session
from pinakes.evaluate.history import find_newest, record_evaluation, require_run
from pinakes.evaluate.resample import open_resampling, resample_figures
from pinakes.evaluate.state import find_current, read_state
from pinakes.evaluators.bootstrap import RESAMPLES, SEED, find_interval
from pinakes.queries.definition import MODES, Benchmark, SuiteMember
from pinakes.records import Score
from pinakes.run.stored_runs import find_runs
from pinakes.schema import score_intervals, scores, suite_intervals
from pinakes.tasks.base import Resampled, Unjudged, find_task, find_unjudged, refuse_unjudged
from pinakes.workload.benchmark import open_benchmark

_COLUMNS: Final = {
    "measure": pa.string(),
    "subset": pa.string(),
    "query_id": pa.string(),
    "value": pa.float64(),
    "queries_expected": pa.int32(),
    "queries_answered": pa.int32(),
    "queries_missing": pa.int32(),
}


@dataclass(frozen=True, slots=True)
class RunScores:
    """A run with the scores of it that were computed now.

    Attributes:
        intervals: subset and measure -> the interval of the value, low and high, where there is one.
        figure_intervals: number of a figure of the benchmark's suite -> the interval of the figure.
        mode: of the run.
        unjudged: the benchmark's queries that are left out of every score; none where its task judges all.
        accepted: the measures whose first value this is, which counts as accepted.
    """

    run_id: int
    system: str
    scores: list[Score]
    intervals: Mapping[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    figure_intervals: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    mode: str = MODES[0]
    unjudged: Unjudged = field(default_factory=lambda: Unjudged([], 0))
    accepted: Sequence[str] = field(default=(), compare=False)

    def aggregates(self) -> list[Score]:
        """The scores of subsets, without those of single queries."""
        return [score for score in self.scores if score.query_id is None]


def evaluate(
    database: Database,
    benchmark_name: str,
    *,
    run_ids: Sequence[int] = (),
    measures: Sequence[str] = (),
    only_changed: bool = False,
    clock: Clock = utc_now,
) -> list[RunScores]:
    """Score runs of a benchmark and store the scores: all runs and all its measures unless some are named.

    Each is an event of the table `evaluations`. With `only_changed`, runs are left out whose last evaluation
    was of the same state: judgments, views, measures and code.

    Queries without a judgment are left out, and told beside the scores.

    Raises:
        UnknownNameError: the benchmark's task has no such measure.
        EvaluationError: there is no run, the answers are not what a measure needs, or queries without a
            judgment are errors of the benchmark.
    """
    benchmark = open_benchmark(database, benchmark_name)
    chosen = find_runs(database, benchmark_name, run_ids)
    names = measures or benchmark.measures
    # Read before the judgments are: what changes in between is another state for the next evaluation.
    state = read_state(database, benchmark, names)
    if only_changed:
        current = find_current(database, benchmark_name, chosen, state)
        chosen = [row for row in chosen if row["run_id"] not in current]
        if not chosen:
            return []
    newest = find_newest(find_runs(database, benchmark_name))
    unjudged = find_unjudged(database, benchmark)
    refuse_unjudged(benchmark, unjudged)
    score_run = find_task(benchmark).open_scoring(database, benchmark, names)
    resample_run = open_resampling(database, benchmark, names)
    results = []
    for row in chosen:
        found = score_run(row["run_id"])
        resampled = resample_run(row["run_id"], found)
        result = RunScores(
            row["run_id"],
            row["system"],
            found,
            {key: find_interval(values) for key, values in resampled.items()},
            _find_figure_intervals(benchmark, resampled),
            row["mode"],
            unjudged,
        )
        is_newest = row["run_id"] in newest
        with database.begin() as session:
            require_run(session, row)
            _store(session, benchmark, result)
            accepted = record_evaluation(
                session, benchmark, row, state, found, at=clock(), is_newest=is_newest
            )
        results.append(replace(result, accepted=accepted))
    return results


def _find_figure_intervals(benchmark: Benchmark, resampled: Resampled) -> dict[int, tuple[float, float]]:
    """The intervals of the figures that the benchmark has in its suite, where all their scores have some."""
    return {
        number: find_interval(values) for number, values in resample_figures(benchmark, resampled).items()
    }


def _store(session: Session, benchmark: Benchmark, result: RunScores) -> None:
    found, owner = result.scores, result.run_id
    measures = {score.measure for score in found}
    for table in (scores, score_intervals):
        session.execute(sa.delete(table).where(table.c.run_id == owner, table.c.measure.in_(measures)))
    columns: dict[str, Any] = {
        name: pa.array([getattr(score, name) for score in found], type_) for name, type_ in _COLUMNS.items()
    }
    session.insert(scores, pa.table({"run_id": pa.array([owner] * len(found), pa.int64()), **columns}))
    drawn = {"run_id": owner, "resamples": RESAMPLES, "seed": SEED}
    intervals = [
        {"measure": measure, "subset": subset, "low": low, "high": high, **drawn}
        for (subset, measure), (low, high) in result.intervals.items()
    ]
    session.insert(score_intervals, pa.Table.from_pylist(intervals))
    if benchmark.suite is not None:
        _store_figures(session, benchmark.suite, result, measures, drawn)


def _store_figures(
    session: Session,
    suite: SuiteMember,
    result: RunScores,
    measures: Collection[str],
    drawn: Mapping[str, int],
) -> None:
    """Replace the intervals of the figures that one of the measures counts in."""
    scored = [
        number
        for number, figure in enumerate(suite.figures, start=1)
        if any(measure in measures for _subset, measure in figure)
    ]
    of_figures = suite_intervals.c.figure.in_(scored)
    session.execute(sa.delete(suite_intervals).where(suite_intervals.c.run_id == result.run_id, of_figures))
    rows = [
        {"suite": suite.name, "figure": number, "low": low, "high": high, **drawn}
        for number, (low, high) in result.figure_intervals.items()
    ]
    session.insert(suite_intervals, pa.Table.from_pylist(rows))
