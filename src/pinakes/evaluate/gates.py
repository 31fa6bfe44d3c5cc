"""Present scores against the accepted ones: what dropped, by how much, and what is another than it was."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import InputError, PinakesError, UnknownNameError
from pinakes.evaluate.causes import find_causes
from pinakes.evaluate.each import Failure
from pinakes.evaluate.history import find_newest
from pinakes.queries.definition import Benchmark
from pinakes.run.stored_runs import name_line
from pinakes.schema import accepted_query_scores, accepted_scores, evaluations, runs, scores
from pinakes.tasks.base import find_task
from pinakes.workload.benchmark import open_benchmark

SIGNIFICANT: Final = "significant"
_TOLERANCE: Final = 1e-9
"""a drop is that of the threshold though its last digits say less"""
_SEED: Final = 0
"""of the randomisation test"""


@dataclass(frozen=True, slots=True)
class Gate:
    """What counts as a regression.

    Attributes:
        measure: as a user names it; None: the headline measure of each benchmark.
        drop: how far a value may not fall, or rise where lower is better; None: significantly, by a paired
            test over the queries.
    """

    measure: str | None
    drop: float | None


@dataclass(frozen=True, slots=True)
class Drop:
    """A value that fell, or rose where lower is better, or that is missing now.

    Attributes:
        run_id: the run that it is of now; None: no run of the line has it.
        value: None as `run_id`.
        p: of the paired randomisation test, corrected by Holm over the lines of the benchmark that changed;
            None where none was made.
        causes: what is another than when the value was accepted, in words.
    """

    benchmark: str
    system: str
    mode: str
    measure: str
    run_id: int | None
    accepted: float
    value: float | None
    queries: int = 0
    p: float | None = None
    causes: tuple[str, ...] = ()
    lower_is_better: bool = False


@dataclass(frozen=True, slots=True)
class Checked:
    """What gates found: the drops, how many values were compared, and what could not be tested, in words.

    Attributes:
        failed: the benchmarks that could not be looked at.
    """

    drops: list[Drop]
    compared: int
    untested: list[str]
    failed: list[Failure] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Pair:
    """An accepted value (a row of `accepted_scores` with its evaluation's) and the present one."""

    accepted: Mapping[str, Any]
    run_id: int | None
    value: float | None
    lower_is_better: bool

    @property
    def has_changed(self) -> bool:
        """Whether the value is another; one that is not a number is the same as another such."""
        before, now = float(self.accepted["value"]), self.value
        return now is None or not (before == now or (math.isnan(before) and math.isnan(now)))

    @property
    def worse_by(self) -> float:
        """How much worse the value is; infinitely much where it is missing, or not a number."""
        before = float(self.accepted["value"])
        if self.value is None or (math.isnan(self.value) and not math.isnan(before)):
            return math.inf
        fell_by = 0.0 if math.isnan(before) else before - self.value
        return -fell_by if self.lower_is_better else fell_by


def read_gate(text: str) -> Gate:
    """A gate from `0.01`, `significant`, `nDCG@10=0.01` or `nDCG@10=significant`.

    >>> read_gate("P(rel=2)@20=0.05")
    Gate(measure='P(rel=2)@20', drop=0.05)

    Raises `InputError`.
    """
    measure, equals, limit = text.rpartition("=")
    if (equals and not measure) or not limit.strip():
        raise _refuse(text)
    if limit == SIGNIFICANT:
        return Gate(measure or None, None)
    try:
        drop = float(limit)
    except ValueError as error:
        raise _refuse(text) from error
    if not 0 <= drop < math.inf:
        raise _refuse(text)
    return Gate(measure or None, drop)


def _refuse(text: str) -> InputError:
    return InputError(
        f"--fail-on-drop {text!r} is no gate; expected how far a value may fall, as 0.01, or {SIGNIFICANT}; "
        f"for one measure, nDCG@10=0.01 or nDCG@10={SIGNIFICANT}."
    )


def check_gates(
    database: Database,
    names: Sequence[str],
    gates: Sequence[Gate],
    *,
    alpha: float = 0.05,
    run_ids: Sequence[int] = (),
) -> Checked:
    """Compare the scores of each line's newest run, or of the named runs, with the accepted ones.

    A value whose line has no scored run now has dropped: a missing one counts as zero.

    Raises `InputError` where a gate names a measure that has no accepted value in any of the benchmarks.
    """
    found, failed = [], []
    for name in names:
        try:
            found.append(_check(database, name, gates, alpha, run_ids))
        except PinakesError as error:
            failed.append(Failure(name, "", str(error)))
    known: set[int] = set().union(*(measures for _checked, measures in found))
    for number, gate in enumerate(gates):
        if gate.measure is not None and found and number not in known:
            raise InputError(
                f"no run of {', '.join(names)} was scored by {gate.measure}; evaluate it first, with "
                "--measure, or take it out of --fail-on-drop."
            )
    checked = [one for one, _measures in found]
    return Checked(
        [drop for one in checked for drop in one.drops],
        sum(one.compared for one in checked),
        list(dict.fromkeys(line for one in checked for line in one.untested)),
        failed,
    )


def _check(
    database: Database, name: str, gates: Sequence[Gate], alpha: float, run_ids: Sequence[int]
) -> tuple[Checked, set[int]]:
    """What the gates find in a benchmark, and the numbers of those whose measure it has."""
    benchmark = open_benchmark(database, name)
    measures = {
        number: measure
        for number, gate in enumerate(gates)
        if (measure := _name_measure(benchmark, gate)) is not None
    }
    with database.read() as session:
        pairs = _pair_values(session, benchmark, sorted(set(measures.values())), run_ids)
    drops: dict[tuple[str, str], Drop] = {}
    untested: list[str] = []
    for number, measure in measures.items():
        of_measure = [pair for pair in pairs if pair.accepted["measure"] == measure]
        limit = gates[number].drop
        if limit is None:
            found = _test(database, name, of_measure, alpha, untested)
        else:
            found = [(pair, None) for pair in of_measure if _is_drop(pair.worse_by, limit)]
        for pair, p in found:
            key = (pair.accepted["line"], measure)
            drops[key] = _describe(name, pair, p if p is not None or key not in drops else drops[key].p)
    told = [
        replace(drop, causes=tuple(find_causes(database, benchmark, pair.accepted, drop.run_id)))
        for pair in pairs
        if (drop := drops.get((pair.accepted["line"], pair.accepted["measure"]))) is not None
    ]
    held = {pair.accepted["measure"] for pair in pairs}
    return Checked(told, len(pairs), untested), {n for n, measure in measures.items() if measure in held}


def _name_measure(benchmark: Benchmark, gate: Gate) -> str | None:
    """The measure that a gate is about; None where the benchmark's task has no such measure."""
    try:
        return find_task(benchmark).name_measure(gate.measure or benchmark.headline_measure)
    except UnknownNameError:
        return None


def _is_drop(worse_by: float, limit: float) -> bool:
    return worse_by > 0 and worse_by >= limit * (1 - _TOLERANCE)


def _describe(benchmark: str, pair: _Pair, p: float | None) -> Drop:
    accepted = pair.accepted
    return Drop(
        benchmark,
        accepted["system"],
        accepted["mode"],
        accepted["measure"],
        pair.run_id,
        accepted["value"],
        pair.value,
        accepted["queries_expected"],
        p,
        lower_is_better=pair.lower_is_better,
    )


def _pair_values(
    session: Session, benchmark: Benchmark, measures: Sequence[str], run_ids: Sequence[int]
) -> list[_Pair]:
    """Each accepted value of the measures with the present one of its line, by system and line."""
    accepted, events = accepted_scores.c, evaluations.c
    query = (
        sa.select(*accepted, *(column for column in events if column.name not in accepted))
        .join_from(accepted_scores, evaluations, accepted.evaluation_id == events.evaluation_id)
        .where(accepted.benchmark == benchmark.name, accepted.measure.in_(measures))
    )
    rows = session.rows(query)
    made = session.rows(sa.select(runs).where(runs.c.benchmark == benchmark.name).order_by(runs.c.run_id))
    lines = {row["run_id"]: name_line(row) for row in made}
    values = session.rows(
        sa.select(scores.c.run_id, scores.c.measure, scores.c.value).where(
            scores.c.run_id.in_(list(lines)),
            scores.c.measure.in_(measures),
            scores.c.subset == "all",
            scores.c.query_id.is_(None),
        )
    )
    newest = run_ids or find_newest([row for row in made if row["run_id"] in {v["run_id"] for v in values}])
    present = {
        (lines[row["run_id"]], row["measure"]): (row["run_id"], row["value"])
        for row in sorted(values, key=lambda row: row["run_id"])
        if row["run_id"] in newest
    }
    prefers_lower = find_task(benchmark).prefers_lower
    pairs = [
        _Pair(
            row,
            *present.get((row["line"], row["measure"]), (None, None)),
            lower_is_better=prefers_lower(row["measure"]),
        )
        for row in sorted(rows, key=lambda row: (row["system"], row["mode"], row["line"], row["measure"]))
    ]
    return [pair for pair in pairs if pair.run_id is not None] if run_ids else pairs


def _test(
    database: Database, benchmark: str, pairs: Sequence[_Pair], alpha: float, untested: list[str]
) -> list[tuple[_Pair, float | None]]:
    """The pairs whose value fell significantly, each with its p value after Holm over those that changed."""
    from pinakes.evaluators.significance import holm

    gone = [(pair, None) for pair in pairs if pair.run_id is None]
    tested: list[tuple[_Pair, float]] = []
    for pair in pairs:
        if pair.run_id is None or not pair.has_changed:
            continue
        p = _compare_queries(database, pair)
        if p is None:
            system, measure = pair.accepted["system"], pair.accepted["measure"]
            untested.append(
                f"{benchmark}: {measure} of {system} is no mean over two or more queries that both states "
                "have; its drop is not tested. A gate with a number looks at it."
            )
        else:
            tested.append((pair, p))
    corrected = zip(tested, holm([p for _pair, p in tested]), strict=True)
    return [*gone, *((pair, p) for (pair, _p), p in corrected if pair.worse_by > 0 and p <= alpha)]


def _compare_queries(database: Database, pair: _Pair) -> float | None:
    """The p value of the paired randomisation test over the queries that both states have a value of."""
    from pinakes.evaluators.significance import compare

    line, measure = pair.accepted["line"], pair.accepted["measure"]
    kept, now = accepted_query_scores.c, scores.c
    before_query = sa.select(kept.query_id, kept.value).where(
        kept.benchmark == pair.accepted["benchmark"], kept.line == line, kept.measure == measure
    )
    now_query = sa.select(now.query_id, now.value).where(
        now.run_id == pair.run_id, now.measure == measure, now.subset == "all", now.query_id.is_not(None)
    )
    with database.read() as session:
        before, present = (dict(session.stream_rows(query)) for query in (before_query, now_query))
    shared = [
        query
        for query in sorted(before.keys() & present.keys())
        if math.isfinite(before[query]) and math.isfinite(present[query])
    ]
    if len(shared) < 2:
        return None
    values = [{query: found[query] for query in shared} for found in (before, present)]
    return compare(*values, seed=_SEED).randomisation_p
