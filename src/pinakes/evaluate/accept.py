"""The present scores of a benchmark accepted: what gates compare with from now on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from pinakes.clock import Clock, utc_now
from pinakes.database import Database, Session
from pinakes.errors import EvaluationError, PinakesError
from pinakes.evaluate.accepted import accept_scores, drop_accepted, drop_judgments, keep_judgments
from pinakes.evaluate.each import Failure, list_run
from pinakes.evaluate.history import find_newest, require_run
from pinakes.evaluate.state import DATA, State, read_state
from pinakes.queries.definition import Benchmark
from pinakes.run.stored_runs import find_runs, name_line
from pinakes.schema import accepted_scores, check_schema, evaluations, scores
from pinakes.workload.benchmark import open_benchmark


@dataclass(frozen=True, slots=True)
class Accepted:
    """A value that was accepted.

    Attributes:
        before: the value that was accepted before; None: none was.
        run_id, value: None where the value is deleted, since no run has it now.
    """

    benchmark: str
    system: str
    mode: str
    run_id: int | None
    measure: str
    before: float | None
    value: float | None


def list_acceptable(database: Database) -> list[str]:
    """The benchmarks that have a run or an accepted value, by name."""
    check_schema(database)
    with database.read() as session:
        rows = session.rows(sa.select(accepted_scores.c.benchmark).distinct())
    return sorted({*list_run(database), *(str(row["benchmark"]) for row in rows)})


def read_accepted(database: Database, benchmark: str, measure: str) -> dict[int, float]:
    """The accepted value of the line of each run of a benchmark, by the run's id."""
    table = accepted_scores.c
    query = sa.select(table.line, table.value).where(table.benchmark == benchmark, table.measure == measure)
    with database.read() as session:
        values = {row["line"]: row["value"] for row in session.rows(query)}
    lines = {row["run_id"]: name_line(row) for row in find_runs(database, benchmark)}
    return {run_id: values[line] for run_id, line in lines.items() if line in values}


def accept_each(database: Database) -> tuple[list[Accepted], list[Failure]]:
    """Accept the scores of every benchmark that has some; what cannot be accepted is named."""
    accepted: list[Accepted] = []
    failed = []
    for name in list_acceptable(database):
        try:
            accepted += accept(database, name)
        except PinakesError as error:
            failed.append(Failure(name, "", str(error)))
    return accepted, failed


def accept(
    database: Database, benchmark_name: str, *, run_ids: Sequence[int] = (), clock: Clock = utc_now
) -> list[Accepted]:
    """Accept the scores of the newest run of each line, or of the named runs: one transaction.

    Without named runs, accepted values that no run has now are deleted.

    Raises:
        EvaluationError: there is no such run, one has no scores, or its scores are of an older state of
            judgments, views or code: what would be accepted is not what is there.
    """
    benchmark = open_benchmark(database, benchmark_name)
    rows = _list_runs(database, benchmark_name, run_ids)
    # Which measures were asked says what is accepted, not whether it is current.
    state = read_state(database, benchmark, [benchmark.headline_measure])
    with database.begin() as session:
        before = _read_accepted(session, benchmark_name)
        found = [
            one for row in rows for one in _accept_run(session, benchmark, row, state, before, clock, run_ids)
        ]
        forgotten = [] if run_ids else _forget(session, benchmark_name, before, found, rows)
        keep_judgments(session, benchmark, state.judgments_digest)
        drop_judgments(session, benchmark_name)
    if not found and not forgotten:
        raise EvaluationError(
            f"{benchmark_name} has no scores to accept; make them with `pinakes evaluate {benchmark_name}`."
        )
    return [*found, *forgotten]


def _list_runs(database: Database, benchmark: str, run_ids: Sequence[int]) -> list[dict[str, Any]]:
    if not run_ids and benchmark not in list_run(database):
        return []
    rows = find_runs(database, benchmark)
    named = find_runs(database, benchmark, run_ids)
    if run_ids:
        lines = [name_line(row) for row in named]
        if len(set(lines)) < len(lines):
            raise EvaluationError("two of these runs are of one system with the same settings; name one.")
        return named
    with database.read() as session:
        scored = session.rows(sa.select(scores.c.run_id).where(scores.c.query_id.is_(None)).distinct())
    known = {row["run_id"] for row in scored}
    rows = [row for row in rows if row["run_id"] in known]
    newest = find_newest(rows)
    return [row for row in rows if row["run_id"] in newest]


def _read_accepted(session: Session, benchmark: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Line and measure -> the accepted value, with the system's name."""
    table, events = accepted_scores.c, evaluations.c
    query = sa.select(table.line, table.measure, table.value, events.system, events.mode)
    joined = query.join_from(accepted_scores, evaluations, table.evaluation_id == events.evaluation_id)
    return {
        (row["line"], row["measure"]): row for row in session.rows(joined.where(table.benchmark == benchmark))
    }


def _accept_run(
    session: Session,
    benchmark: Benchmark,
    run: Mapping[str, Any],
    state: State,
    before: Mapping[tuple[str, str], Mapping[str, Any]],
    clock: Clock,
    run_ids: Sequence[int],
) -> list[Accepted]:
    require_run(session, run)
    newest = sa.select(evaluations).where(evaluations.c.run_id == run["run_id"])
    event = session.first(newest.order_by(evaluations.c.evaluation_id.desc()).limit(1))
    values = session.rows(
        sa.select(scores.c.measure, scores.c.value)
        .where(scores.c.run_id == run["run_id"], scores.c.subset == "all", scores.c.query_id.is_(None))
        .order_by(scores.c.measure)
    )
    if event is None or not values:
        raise EvaluationError(_tell(benchmark.name, run, "was not evaluated yet", run_ids))
    if any(event[name] != getattr(state, name) for name in DATA):
        reason = "has scores of other judgments, views or code than there are now"
        raise EvaluationError(_tell(benchmark.name, run, reason, run_ids))
    line = name_line(run)
    drop_accepted(session, benchmark.name, line)
    accept_scores(session, event, [row["measure"] for row in values], at=clock())
    return [
        Accepted(
            benchmark.name,
            run["system"],
            run["mode"],
            run["run_id"],
            row["measure"],
            before[line, row["measure"]]["value"] if (line, row["measure"]) in before else None,
            row["value"],
        )
        for row in values
    ]


def _tell(benchmark: str, run: Mapping[str, Any], reason: str, run_ids: Sequence[int]) -> str:
    chosen = f" --run {run['run_id']}" if run_ids else ""
    return (
        f"run {run['run_id']} ({run['system']}) {reason}; start `pinakes evaluate {benchmark}{chosen}`, look "
        "at the scores, then accept them."
    )


def _forget(
    session: Session,
    benchmark: str,
    before: Mapping[tuple[str, str], Mapping[str, Any]],
    found: Sequence[Accepted],
    rows: Sequence[Mapping[str, Any]],
) -> list[Accepted]:
    """Drop what was accepted of lines that have no scored run now; and tell each such value."""
    lines = {row["run_id"]: name_line(row) for row in rows}
    kept = {(lines[one.run_id], one.measure) for one in found if one.run_id is not None}
    gone = [key for key in sorted(before) if key not in kept]
    for line in sorted({line for line, _measure in gone} - set(lines.values())):
        drop_accepted(session, benchmark, line)
    return [
        Accepted(
            benchmark, before[key]["system"], before[key]["mode"], None, key[1], before[key]["value"], None
        )
        for key in gone
    ]
