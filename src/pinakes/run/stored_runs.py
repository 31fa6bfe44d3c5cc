"""Stored runs: all of a benchmark's, those that are named, or the newest of each system."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import EvaluationError
from pinakes.schema import runs


def find_runs(database: Database, benchmark: str, run_ids: Sequence[int] = ()) -> list[dict[str, Any]]:
    """The runs of a benchmark, oldest first.

    Raises:
        EvaluationError: there is none, or not one of those that were named.
    """
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


def _identify(row: Mapping[str, Any]) -> tuple[object, ...]:
    """What the same system would be run with again; the data that it reads may have changed."""
    parameters = orjson.loads(row["parameters"])
    settings = {key: value for key, value in parameters.items() if not key.endswith("digest")}
    names = ("system", "precision", "query_template", "paper_template", "depth")
    return (*(row[name] for name in names), orjson.dumps(settings, option=orjson.OPT_SORT_KEYS))
