"""What the views of the benchmark say: Table 5, coverage, and rows that are shown as they are."""

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.database.compiled import EVERY_COLUMN
from pinakes.queries.definition import Benchmark
from pinakes.report.asked_runs import AskedRun
from pinakes.report.self_retrieval.data import Capability, Coverage, ViewRows
from pinakes.report.self_retrieval.names import READING


def read_capability(database: Database, benchmark: Benchmark, run_ids: Sequence[int]) -> Capability:
    """Table 5 of the paper in the reading that the report leads with."""
    rows = read_own(
        database,
        benchmark,
        "capability",
        ("run_id", "reading", "category", "above", "below", "aop_20", "is_met"),
    )
    chosen = [row for row in rows if row["run_id"] in run_ids and row["reading"] == READING]
    return Capability(
        {row["category"]: (row["above"], row["below"]) for row in chosen},
        {(row["run_id"], row["category"]): (row["aop_20"], bool(row["is_met"])) for row in chosen},
    )


def read_coverage(database: Database, benchmark: Benchmark, asked: Sequence[AskedRun]) -> list[Coverage]:
    """Each code of the producers that the runs asked with, on the corpora that they asked."""
    wanted = {(run.corpus, name) for run in asked for name in run.producers}
    keys = ("corpus", "producer", "code")
    outcomes: dict[tuple[str, ...], dict[str, int]] = {}
    sizes = {}
    for row in read_own(database, benchmark, "coverage", (*keys, "outcome", "papers", "originals")):
        outcomes.setdefault(tuple(row[key] for key in keys), {})[row["outcome"]] = int(row["papers"])
        sizes[row["corpus"]] = int(row["originals"])
    counts = ("equal_to_original", "distinct_texts")
    texts = {
        tuple(row[key] for key in keys): tuple(int(row[name]) for name in counts)
        for row in read_own(database, benchmark, "equal_texts", (*keys, *counts))
    }
    return [
        _cover(key, sizes[key[0]], outcomes[key], texts.get(key, (0, 0)))
        for key in sorted(outcomes)
        if key[:2] in wanted
    ]


def _cover(
    key: tuple[str, ...], papers: int, outcomes: Mapping[str, int], texts: tuple[int, ...]
) -> Coverage:
    """A code's coverage; papers that no generator was asked about have a reason too."""
    corpus, producer, code = key
    absent = {reason: count for reason, count in sorted(outcomes.items()) if reason != "made"}
    unknown = papers - sum(outcomes.values())
    if unknown:
        absent["not asked for"] = unknown
    equal, distinct = texts
    return Coverage(corpus, producer, code, papers, outcomes.get("made", 0), absent, equal, distinct)


def read_own(
    database: Database, benchmark: Benchmark, name: str, columns: Sequence[str]
) -> list[dict[str, Any]]:
    """Columns of a view of the benchmark, in no order; no rows where its folder has no such view."""
    if name not in (*benchmark.sql, *benchmark.own_views):
        return []
    view = sa.table(name, *map(sa.column, columns), schema=benchmark.name)
    with database.read() as session:
        return session.rows(sa.select(view))


def read_view(database: Database, benchmark: Benchmark, name: str) -> ViewRows:
    """All of a view of the benchmark, its rows in their order as words."""
    view = sa.table(name, schema=benchmark.name)
    with database.read() as session:
        found = session.fetch_arrow(sa.select(EVERY_COLUMN).select_from(view))
    rows = [tuple(row.values()) for row in found.to_pylist()]
    return ViewRows(tuple(found.column_names), sorted(rows, key=lambda row: tuple(map(str, row))))
