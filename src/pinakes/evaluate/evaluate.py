"""Stored answers and the judgments as they are now to stored scores, which replace older ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.records import Score
from pinakes.run.stored_runs import find_runs
from pinakes.schema import scores
from pinakes.tasks.base import find_task
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
    """A run with the scores of it that were computed now."""

    run_id: int
    system: str
    scores: list[Score]

    def aggregates(self) -> list[Score]:
        """The scores of subsets, without those of single queries."""
        return [score for score in self.scores if score.query_id is None]


def evaluate(
    database: Database, benchmark_name: str, *, run_ids: Sequence[int] = (), measures: Sequence[str] = ()
) -> list[RunScores]:
    """Score runs of a benchmark and store the scores: all runs and all its measures unless some are named.

    Raises:
        UnknownNameError: the benchmark's task has no such measure.
        EvaluationError: there is no run, or the answers are not what a measure needs.
    """
    benchmark = open_benchmark(database, benchmark_name)
    chosen = find_runs(database, benchmark_name, run_ids)
    score_run = find_task(benchmark).open_scoring(database, benchmark, measures or benchmark.measures)
    results = []
    for row in chosen:
        found = score_run(row["run_id"])
        with database.begin() as session:
            _store(session, row["run_id"], found)
        results.append(RunScores(row["run_id"], row["system"], found))
    return results


def _store(session: Session, run_id: int, found: Sequence[Score]) -> None:
    measures = {score.measure for score in found}
    session.execute(sa.delete(scores).where(scores.c.run_id == run_id, scores.c.measure.in_(measures)))
    columns: dict[str, Any] = {
        name: pa.array([getattr(score, name) for score in found], type_) for name, type_ in _COLUMNS.items()
    }
    owner = pa.array([run_id] * len(found), pa.int64())
    session.insert(scores, pa.table({"run_id": owner, **columns}))
