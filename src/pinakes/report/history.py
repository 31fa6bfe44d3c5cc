"""How the values of a benchmark's systems went from evaluation to evaluation, and what changed in between."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.report.data import HistoryCurve, HistoryPoint, RunRow
from pinakes.run.stored_runs import find_runs, name_line
from pinakes.schema import evaluation_scores, evaluations

_CHANGES: Final = {
    "judgments_digest": "judgments",
    "queries_digest": "queries",
    "view_digest": "definition",
    "papers_removed": "papers removed",
    "dataset_digest": "texts",
    "encoder_revision": "encoder",
    "run_digest": "run",
    "code_digest": "scoring code",
}
"""column of `evaluations` -> what changed where it did"""


def gather_history(
    database: Database, benchmark: str, runs: Sequence[RunRow], measure: str, subset: str
) -> list[HistoryCurve]:
    """A curve for each run that is the newest of its line; none where no line has two values."""
    lines = {row["run_id"]: name_line(row) for row in find_runs(database, benchmark)}
    found: dict[str, list[dict[str, Any]]] = {}
    table, values = evaluations.c, evaluation_scores.c
    newest = (table.benchmark == benchmark, table.is_newest)
    query = (
        sa.select(
            table.line, table.run_id, table.evaluated_at, values.value, *(table[one] for one in _CHANGES)
        )
        .join_from(evaluation_scores, evaluations, values.evaluation_id == table.evaluation_id)
        .where(*newest, values.measure == measure, values.subset == subset)
        .order_by(table.evaluation_id)
    )
    last = sa.select(table.line, sa.func.max(table.evaluated_at).label("until")).where(*newest)
    with database.read() as session:
        for row in session.rows(query):
            found.setdefault(row["line"], []).append(row)
        until = {row["line"]: row["until"] for row in session.rows(last.group_by(table.line))}
    chosen = {lines[run.run_id]: run.run_id for run in runs}
    curves = [
        HistoryCurve(run_id, tuple(_list_points(found[line])), until[line])
        for line, run_id in chosen.items()
        if line in found
    ]
    return curves if any(len(curve.points) > 1 for curve in curves) else []


def _list_points(rows: Sequence[Mapping[str, Any]]) -> Iterator[HistoryPoint]:
    """The points of a line; a value that is the same again is none, as that of a run that was made again."""
    before: Mapping[str, Any] | None = None
    for row in rows:
        if before is not None and row["value"] == before["value"]:
            continue
        at = row["evaluated_at"] if before is None else max(row["evaluated_at"], before["evaluated_at"])
        changes = [] if before is None else [_CHANGES[name] for name in _CHANGES if row[name] != before[name]]
        yield HistoryPoint(at, row["run_id"], row["value"], tuple(changes))
        before = {**row, "evaluated_at": at}
