"""The stored result of a tuning: written whole, and found again while its data are as they were.

What a choice was made on is known by a digest: that of the workload. Where folds are kept for tuning alone, a
run does not read them, and the digest is over the benchmark's definition, these folds' queries with their
texts and pools, and the number of their candidates: it is cheap, and does not see a candidate's new text.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import orjson
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.queries.definition import Benchmark
from pinakes.queries.relations import requested_candidates, select_queries
from pinakes.schema import tuned_parameters
from pinakes.workload.workload import Workload


@dataclass(frozen=True, slots=True)
class GridPoint:
    """One pair that was tried, and the mean of the measure over the validation queries."""

    k1: float
    b: float
    value: float


@dataclass(frozen=True, slots=True)
class TuneSummary:
    """What was tried on which queries, and the choice.

    Attributes:
        validation: which queries, in words; where it names a part of the benchmark's own, report the rest.
        points: every pair with the mean of the measure, in the order of the grid.
    """

    benchmark: str
    system: str
    measure: str
    validation: str
    query_count: int
    points: tuple[GridPoint, ...]
    chosen: GridPoint
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class TunedChoice:
    """The pair that a tuning chose; `stale` when the benchmark or the settings were others then."""

    k1: float
    b: float
    measure: str
    validation: str
    stale: bool


def describe_settings(workload: Workload, analysis: Mapping[str, Any]) -> str:
    """What a choice depends on, besides the texts: the analysis and both templates, as JSON."""
    return _to_json(
        {
            "analysis": dict(analysis),
            "paper_template": workload.paper_template,
            "query_template": workload.query_template,
        }
    )


def find_choice(database: Database, workload: Workload, system: str, settings: str) -> TunedChoice | None:
    """What the last tuning of the system on the benchmark chose; None where there was none."""
    table = tuned_parameters
    of_benchmark = (table.c.benchmark == workload.benchmark.name, table.c.system == system)
    with database.read() as session:
        row = session.first(sa.select(table).where(*of_benchmark, table.c.chosen))
    if row is None:
        return None
    pair = orjson.loads(row["parameters"])
    stale = (row["dataset_digest"], row["settings"]) != (_digest_data(database, workload), settings)
    return TunedChoice(pair["k1"], pair["b"], row["measure"], row["validation"], stale)


def store_choice(
    database: Database, workload: Workload, summary: TuneSummary, settings: str, tuned_at: datetime
) -> None:
    """Store every point, replacing what an earlier tuning of the system on the benchmark stored."""
    table = tuned_parameters
    digest = _digest_data(database, workload)
    with database.begin() as session:
        session.execute(
            sa.delete(table).where(table.c.benchmark == summary.benchmark, table.c.system == summary.system)
        )
        for point in summary.points:
            row = {
                "benchmark": summary.benchmark,
                "system": summary.system,
                "parameters": _to_json({"k1": point.k1, "b": point.b}),
                "settings": settings,
                "measure": summary.measure,
                "value": point.value,
                "validation": summary.validation,
                "query_count": summary.query_count,
                "chosen": point == summary.chosen,
                "dataset_digest": digest,
                "tuned_at": tuned_at,
            }
            session.execute(sa.insert(table).values(**row))


def _digest_data(database: Database, workload: Workload) -> str:
    """What the choice depends on, besides the settings: as cheap for a run as for the tuning."""
    if not workload.benchmark.tuning_folds:
        return workload.digest
    benchmark = replace(_whole(workload.benchmark), tuning=True)
    candidates = sa.select(sa.func.count()).select_from(requested_candidates(benchmark))
    with database.read() as session:
        queries = session.fetch_arrow(select_queries(benchmark, workload.query_template)).drop(["paper_id"])
        decisive = {
            "benchmark": benchmark.digest,
            "corpus": benchmark.corpus,
            "candidates": int(session.scalar(candidates)),
            "queries": sorted(zip(*(column.to_pylist() for column in queries.columns), strict=True)),
        }
    return hashlib.sha256(orjson.dumps(decisive, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _whole(benchmark: Benchmark) -> Benchmark:
    """The benchmark that a part is of."""
    return benchmark if benchmark.part is None else replace(benchmark, pool="grouped", part=None)


def _to_json(value: Mapping[str, Any]) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
