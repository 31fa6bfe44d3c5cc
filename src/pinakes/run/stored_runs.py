"""The register of runs: storing and deleting one with its answers, and finding those of a benchmark."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import EvaluationError
from pinakes.schema import (
    evaluations,
    hits,
    next_id,
    runs,
    score_intervals,
    scores,
    suite_intervals,
    suite_runs,
)
from pinakes.tasks.base import list_tasks


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A stored run, and whether it existed or was made now."""

    run_id: int
    benchmark: str
    system: str
    existing: bool
    queries_expected: int
    queries_answered: int
    hit_count: int
    elapsed_s: float


def summarise(row: Mapping[str, Any], *, existing: bool) -> RunSummary:
    """What a row of `runs` says of itself."""
    names = [field.name for field in fields(RunSummary) if field.name != "existing"]
    return RunSummary(existing=existing, **{name: row[name] for name in names})


def find_run(database: Database, run_digest: str) -> dict[str, Any] | None:
    """The stored run of that digest."""
    with database.read() as session:
        return session.first(sa.select(runs).where(runs.c.run_digest == run_digest))


def find_runs(database: Database, benchmark: str, run_ids: Sequence[int] = ()) -> list[dict[str, Any]]:
    """The runs of a benchmark, oldest first; `EvaluationError` where there is none, or one is missing."""
    query = sa.select(runs).where(runs.c.benchmark == benchmark).order_by(runs.c.run_id)
    with database.read() as session:
        found = session.rows(query)
    missing = sorted(set(run_ids) - {row["run_id"] for row in found})
    if missing:
        known = ", ".join(str(row["run_id"]) for row in found) or "none"
        raise EvaluationError(f"{benchmark} has no run {missing[0]}; its runs: {known}.")
    if not found:
        command = f"`pinakes run {benchmark} --system …`"
        raise EvaluationError(f"{benchmark} has no run yet; make one with {command}.")
    return [row for row in found if not run_ids or row["run_id"] in run_ids]


def select_newest(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The newest run of each system with the same settings, oldest first."""
    newest = {_identify(row): row for row in rows}
    return sorted(newest.values(), key=lambda row: int(row["run_id"]))


def name_line(row: Mapping[str, Any]) -> str:
    """sha256 of what the same system would be run with again: runs of one line are one curve of a history."""
    return hashlib.sha256(orjson.dumps(_identify(row))).hexdigest()


def _identify(row: Mapping[str, Any]) -> tuple[object, ...]:
    """What the same system would be run with again; the data that it reads may have changed."""
    parameters = orjson.loads(row["parameters"])
    settings = {key: value for key, value in parameters.items() if not key.endswith("digest")}
    names = ("system", "mode", "precision", "query_template", "paper_template", "depth", "corpus", "variants")
    return (*(row[name] for name in names), orjson.dumps(settings, option=orjson.OPT_SORT_KEYS).decode())


def store_run(
    session: Session, row: Mapping[str, Any], answers: Mapping[sa.Table, Iterable[pa.Table]]
) -> dict[str, Any]:
    """Insert a run and its answers, replacing a run of the same digest; the row as stored.

    The row has no `run_id` and `hit_count` yet, and the rows of the tables, the answers' first, no `run_id`.
    """
    for old in session.rows(sa.select(runs.c.run_id).where(runs.c.run_digest == row["run_digest"])):
        delete_run(session, old["run_id"])
    run_id = next_id(session, runs.c.run_id)
    counts = {}
    for table, parts in answers.items():
        counts[table] = 0
        for rows in parts:
            owner = pa.array(np.full(rows.num_rows, run_id, dtype=np.int64))
            owned = rows.append_column("run_id", owner)
            if table is hits and not session.backend.stages_in_place:
                owned = _order_by_key(owned)
            counts[table] += session.insert(table, owned)
    stored = {**row, "run_id": run_id, "hit_count": next(iter(counts.values()))}
    session.execute(sa.insert(runs).values(**stored))
    return stored


def _order_by_key(rows: pa.Table) -> pa.Table:
    """Hits that come query by query in the order of the table's key, whose index then grows at its end."""
    query = rows["query_id"].combine_chunks()
    if not pa.types.is_dictionary(query.type):
        query = query.dictionary_encode()
    papers = rows["paper_id"].to_numpy()
    # One number of both, which sorts in a sixth of the time of two keys.
    keys = query.indices.to_numpy().astype(np.int64) * (int(papers.max(initial=0)) + 1) + papers
    return rows.take(pa.array(np.argsort(keys, kind="stable")))


def delete_run(session: Session, run_id: int) -> None:
    """Delete a run with its scores and its answers, of whatever task; the history of its scores stays."""
    session.execute(sa.update(evaluations).values(run_id=None).where(evaluations.c.run_id == run_id))
    of_tasks = {table: None for task in list_tasks() for table in (task.answers, *task.facts)}
    for table in (scores, score_intervals, suite_intervals, suite_runs, *of_tasks, runs):
        session.execute(sa.delete(table).where(table.c.run_id == run_id))
