"""The stored result of a tuning: written whole, and found again while its data are as they were.

Leaves out: the tuning itself (`pinakes.pipeline.tune`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.pipeline.workload import Workload
from pinakes.schema.tuning import tuned_parameters


@dataclass(frozen=True, slots=True)
class GridPoint:
    """One pair that was tried, and the mean of the measure over the validation queries."""

    k1: float
    b: float
    value: float


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
    stale = (row["dataset_digest"], row["settings"]) != (workload.digest, settings)
    return TunedChoice(pair["k1"], pair["b"], row["measure"], row["validation"], stale)


def store_choice(
    database: Database,
    workload: Workload,
    system: str,
    settings: str,
    points: Sequence[GridPoint],
    chosen: GridPoint,
    *,
    measure: str,
    validation: str,
    query_count: int,
    tuned_at: datetime,
) -> None:
    """Store every point, replacing what an earlier tuning of the system on the benchmark stored."""
    table, benchmark = tuned_parameters, workload.benchmark.name
    rows = [
        {
            "benchmark": benchmark,
            "system": system,
            "parameters": _to_json({"k1": point.k1, "b": point.b}),
            "settings": settings,
            "measure": measure,
            "value": point.value,
            "validation": validation,
            "query_count": query_count,
            "chosen": point == chosen,
            "dataset_digest": workload.digest,
            "tuned_at": tuned_at,
        }
        for point in points
    ]
    with database.begin() as session:
        session.execute(sa.delete(table).where(table.c.benchmark == benchmark, table.c.system == system))
        for row in rows:
            session.execute(sa.insert(table).values(**row))


def _to_json(value: Mapping[str, Any]) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
