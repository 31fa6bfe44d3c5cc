"""Scores over subsets, with their intervals, as evaluations stored them."""

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.schema import score_intervals, scores


@dataclass(frozen=True, slots=True)
class Value:
    """A score over a subset, with its interval where there is one."""

    value: float
    expected: int
    answered: int
    low: float | None = None
    high: float | None = None


def read_values(database: Database, run_ids: Sequence[int]) -> dict[tuple[int, str, str], Value]:
    """(run, subset, measure) -> score of the subset, with its interval."""
    keys = ("run_id", "subset", "measure")
    joined = scores.outerjoin(
        score_intervals, sa.and_(*(scores.c[key] == score_intervals.c[key] for key in keys))
    )
    counts = (scores.c.queries_expected, scores.c.queries_answered)
    ends = (score_intervals.c.low, score_intervals.c.high)
    query = sa.select(*(scores.c[key] for key in keys), scores.c.value, *counts, *ends).select_from(joined)
    with database.read() as session:
        rows = session.rows(query.where(scores.c.run_id.in_(run_ids), scores.c.query_id.is_(None)))
    return {
        (row["run_id"], row["subset"], row["measure"]): Value(
            row["value"], row["queries_expected"], row["queries_answered"], row["low"], row["high"]
        )
        for row in rows
    }
