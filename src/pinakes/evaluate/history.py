"""Evaluations as events: when, by what, and the values that are new; a first value is accepted by itself."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Session
from pinakes.errors import EvaluationError
from pinakes.evaluate.accepted import accept_scores, keep_judgments, list_accepted
from pinakes.evaluate.state import State
from pinakes.queries.definition import Benchmark
from pinakes.records import Score
from pinakes.run.stored_runs import name_line
from pinakes.schema import evaluation_scores, evaluations, next_id, runs

_OF_RUN = ("run_id", "run_digest", "system", "mode", "dataset_digest", "encoder_revision")
_VALUES = ("value", "queries_expected", "queries_answered")


def find_newest(rows: Sequence[Mapping[str, Any]]) -> set[int]:
    """The ids of the runs that are the newest of their line, out of all runs of a benchmark."""
    newest: dict[str, int] = {}
    for row in rows:
        line = name_line(row)
        newest[line] = max(newest.get(line, 0), row["run_id"])
    return set(newest.values())


def record_evaluation(
    session: Session,
    benchmark: Benchmark,
    run: Mapping[str, Any],
    state: State,
    found: Sequence[Score],
    *,
    at: datetime,
    is_newest: bool,
) -> list[str]:
    """Store an evaluation of a run, whose scores are stored; the measures whose first value it accepted."""
    evaluation_id, line = next_id(session, evaluations.c.evaluation_id), name_line(run)
    event = {
        **{name: run[name] for name in _OF_RUN},
        "evaluation_id": evaluation_id,
        "benchmark": benchmark.name,
        "run_code_version": run["code_version"],
        "line": line,
        "is_newest": is_newest,
        "evaluated_at": at,
        **asdict(state),
    }
    session.execute(sa.insert(evaluations).values(**event))
    aggregates = [score for score in found if score.query_id is None]
    _store_changes(session, event, aggregates)
    if not is_newest:
        return []
    accepted = list_accepted(session, benchmark.name, line)
    measures = dict.fromkeys(score.measure for score in aggregates if score.subset == "all")
    first = [measure for measure in measures if measure not in accepted]
    if first:
        accept_scores(session, event, first, at=at, by_itself=True)
        keep_judgments(session, benchmark, state.judgments_digest)
    return first


def require_run(session: Session, run: Mapping[str, Any]) -> None:
    """Raise `EvaluationError` where a run is not there as it was read."""
    query = sa.select(runs.c.run_digest).where(runs.c.run_id == run["run_id"])
    if session.scalar(query) != run["run_digest"]:
        raise EvaluationError(f"run {run['run_id']} was removed while it was evaluated; nothing was stored.")


def _store_changes(session: Session, event: Mapping[str, Any], aggregates: Sequence[Score]) -> None:
    """Store the values that the run, or one of the same digest before it, did not have last."""
    last = _read_last(session, event)
    changed = [
        score
        for score in aggregates
        if not _is_same(last.get((score.measure, score.subset)), [getattr(score, name) for name in _VALUES])
    ]
    columns: dict[str, Any] = {
        "evaluation_id": pa.array([event["evaluation_id"]] * len(changed), pa.int64()),
        "measure": pa.array([score.measure for score in changed], pa.string()),
        "subset": pa.array([score.subset for score in changed], pa.string()),
        "value": pa.array([score.value for score in changed], pa.float64()),
        "queries_expected": pa.array([score.queries_expected for score in changed], pa.int32()),
        "queries_answered": pa.array([score.queries_answered for score in changed], pa.int32()),
    }
    session.insert(evaluation_scores, pa.table(columns))


def _read_last(session: Session, event: Mapping[str, Any]) -> dict[tuple[str, str], list[float]]:
    """Measure and subset -> value and counts, as the last evaluation that changed them gave them."""
    values, events = evaluation_scores.c, evaluations.c
    query = (
        sa.select(values.measure, values.subset, *(values[name] for name in _VALUES))
        .join_from(evaluation_scores, evaluations, values.evaluation_id == events.evaluation_id)
        .where(events.benchmark == event["benchmark"], events.run_digest == event["run_digest"])
        .order_by(values.evaluation_id)
    )
    return {(row["measure"], row["subset"]): [row[name] for name in _VALUES] for row in session.rows(query)}


def _is_same(last: Sequence[float] | None, now: Sequence[float]) -> bool:
    """Whether values are the same; one that is not a number is the same as another such."""
    if last is None:
        return False
    return all(a == b or (math.isnan(a) and math.isnan(b)) for a, b in zip(last, now, strict=True))
