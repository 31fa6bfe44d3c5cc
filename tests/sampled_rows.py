"""Rows of sampled benchmarks, written straight into the tables: small enough to be worked out by hand.

Leaves out: the sampling, the ranking and the scoring that write such rows elsewhere.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.schema import hits, runs, scores

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def add_rows(database: Database, table: sa.Table, rows: Iterable[Sequence[Any]]) -> None:
    """Rows whose values stand in the order of the table's columns."""
    names = [column.name for column in table.columns]
    values = [dict(zip(names, row, strict=True)) for row in rows]
    with database.begin() as session:
        session.execute(sa.insert(table).values(values))


def add_run(database: Database, run_id: int, benchmark: str, system: str, **changed: object) -> None:
    """A run of which nothing is known but whose it is."""
    row: dict[str, object] = {
        "run_id": run_id,
        "benchmark": benchmark,
        "system": system,
        "run_digest": f"run {run_id}",
        "parameters": "{}",
        "code_version": "0",
        "dataset_digest": "rows",
        "view_digest": "views",
        "started_at": NOON,
        "elapsed_s": 1.0,
        "queries_expected": 1,
        "queries_answered": 1,
        "candidates_expected": 1,
        "candidates_without_text": 0,
        "hit_count": 1,
    }
    with database.begin() as session:
        session.execute(sa.insert(runs).values({**row, **changed}))


def add_hits(database: Database, run_id: int, ranked: Mapping[str, Sequence[int]]) -> None:
    """The hits of a run: query id -> paper ids, best first."""
    add_rows(
        database,
        hits,
        [
            (run_id, query_id, paper_id, rank, 1.0 / rank)
            for query_id, papers in ranked.items()
            for rank, paper_id in enumerate(papers, 1)
        ],
    )


def add_scores(
    database: Database, run_id: int, measure: str, values: Mapping[tuple[str, str | None], float]
) -> None:
    """The scores of a run by a measure: (subset, query id or None) -> value."""
    rows = [(run_id, measure, *key, value, 1, 1, 0) for key, value in values.items()]
    add_rows(database, scores, rows)
