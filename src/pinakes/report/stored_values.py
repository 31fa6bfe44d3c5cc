"""Scores over subsets, with their intervals, as evaluations stored them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import EvaluationError
from pinakes.report.asked_runs import AskedRun
from pinakes.schema import score_intervals, scores


@dataclass(frozen=True, slots=True)
class Value:
    """A score over a subset, with its interval where there is one."""

    value: float
    expected: int
    answered: int
    low: float | None = None
    high: float | None = None


Values = Mapping[tuple[int, str, str], Value]
"""(run, subset, measure) -> the score"""


def read_values(database: Database, benchmark: str, run_ids: Sequence[int]) -> Values:
    """The scores of subsets, with their intervals. Raises `EvaluationError` where no run has any."""
    keys = ("run_id", "subset", "measure")
    joined = scores.outerjoin(
        score_intervals, sa.and_(*(scores.c[key] == score_intervals.c[key] for key in keys))
    )
    counts = (scores.c.queries_expected, scores.c.queries_answered)
    ends = (score_intervals.c.low, score_intervals.c.high)
    query = sa.select(*(scores.c[key] for key in keys), scores.c.value, *counts, *ends).select_from(joined)
    with database.read() as session:
        rows = session.rows(query.where(scores.c.run_id.in_(run_ids), scores.c.query_id.is_(None)))
    if not rows:
        raise EvaluationError(
            f"no run of {benchmark} has scores; make them with `pinakes evaluate {benchmark}`."
        )
    return {
        (row["run_id"], row["subset"], row["measure"]): Value(
            row["value"], row["queries_expected"], row["queries_answered"], row["low"], row["high"]
        )
        for row in rows
    }


def warn_of_run(run: AskedRun, values: Values, asked: str) -> Iterable[str]:
    """What a reader must know of a run's answers, where `asked` names what it was asked."""
    if all(run_id != run.run_id for run_id, _subset, _measure in values):
        yield f"{run.name} was not evaluated."
    if run.row.queries_missing:
        missing = f"{run.row.queries_missing:,} of {run.row.queries_expected:,} {asked}"
        yield f"{run.name} has no answer to {missing}; each counts as zero."


def warn_of_choice(runs: Sequence[AskedRun], left_out: int) -> Iterable[str]:
    """Which runs are of an older definition of the benchmark, and how many older runs are not shown."""
    older = [run.name for run in runs if not run.row.is_current]
    if older:
        yield f"Made when the benchmark was defined otherwise than today: {join_words(older)}."
    if left_out:
        yield f"Older runs of the same systems on the same corpora are left out: {left_out}."


def join_words(words: list[str]) -> str:
    """Words as a sentence lists them.

    >>> join_words(["a"]), join_words(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1]))) if words else ""
