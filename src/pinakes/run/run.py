"""A ranking of a benchmark's candidates, stored with all that made it.

A run is known by the digest of what decides it: run again with nothing changed, it is found, not made.
"""

import hashlib
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from tempfile import SpooledTemporaryFile
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import sqlalchemy as sa

from pinakes import __version__
from pinakes.clock import Clock, utc_now
from pinakes.database import Database, Session
from pinakes.progress import Progress, Silent
from pinakes.run.hit_tables import BYTES_IN_MEMORY, read_hit_tables, write_hits
from pinakes.run.ranking import rank_workload
from pinakes.schema import hits, next_id, runs
from pinakes.systems import System, SystemDescription, find_system
from pinakes.systems.base import SystemOptions
from pinakes.workload.benchmark import find_index_folder, open_benchmark
from pinakes.workload.templates import choose_templates
from pinakes.workload.workload import Workload, read_workload


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A stored run, and whether it was made now or found."""

    run_id: int
    benchmark: str
    system: str
    existing: bool
    queries_expected: int
    queries_answered: int
    hit_count: int
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What to rank, by what."""

    benchmark: str
    system: str
    options: SystemOptions | None = None
    depth: int | None = None
    query_template: str | None = None
    paper_template: str | None = None
    again: bool = False


def run(
    database: Database, request: RunRequest, *, progress: Progress | None = None, clock: Clock = utc_now
) -> RunSummary:
    """Rank the benchmark's candidates and store the ranking; a run of the same digest is found instead.

    Raises:
        UnknownNameError: no such benchmark, system or template.
        BenchmarkError: the benchmark's corpus is not loaded.
        RunError: an index is missing or stale; the message has the command that makes it.
    """
    benchmark = open_benchmark(database, request.benchmark)
    if request.depth is not None:
        benchmark = replace(benchmark, depth=request.depth)
    options = request.options or SystemOptions(find_index_folder(database))
    system = find_system(request.system, options)
    templates = choose_templates(benchmark, request.system, request.query_template, request.paper_template)
    workload = read_workload(database, benchmark, *templates)
    description = system.describe(database, workload)
    row = _describe_run(workload, system, description)
    known = find_run(database, row["run_digest"])
    if known is not None and not request.again:
        return summarise(known, existing=True)
    return _make(database, system, workload, row, progress or Silent(), clock)


def _describe_run(workload: Workload, system: System, description: SystemDescription) -> dict[str, Any]:
    """The columns of `runs` that decide the ranking, and their digest."""
    row = {
        "benchmark": workload.benchmark.name,
        "system": system.name,
        "parameters": orjson.dumps(description.parameters, option=orjson.OPT_SORT_KEYS).decode(),
        "encoder_revision": description.encoder_revision,
        "precision": description.precision,
        "query_template": workload.query_template,
        "paper_template": workload.paper_template,
        "code_version": __version__,
        "dataset_digest": workload.digest,
        "view_digest": workload.benchmark.digest,
        "depth": workload.benchmark.depth,
    }
    digest = hashlib.sha256(orjson.dumps(row, option=orjson.OPT_SORT_KEYS)).hexdigest()
    # Neither the device nor an id of ours decides a ranking: the search is exact, the order total.
    return {**row, "device": description.device, "encoder_id": description.encoder_id, "run_digest": digest}


def find_run(database: Database, run_digest: str) -> dict[str, Any] | None:
    """The stored run of that digest."""
    with database.read() as session:
        return session.first(sa.select(runs).where(runs.c.run_digest == run_digest))


def _make(
    database: Database,
    system: System,
    workload: Workload,
    row: dict[str, Any],
    progress: Progress,
    clock: Clock,
) -> RunSummary:
    started_at, started = clock(), time.monotonic()
    with SpooledTemporaryFile(BYTES_IN_MEMORY) as file:
        answered = write_hits(file, workload, rank_workload(database, system, workload, progress))
        row |= {
            "started_at": started_at,
            "elapsed_s": time.monotonic() - started,
            "queries_expected": len(workload.query_ids),
            "queries_answered": answered,
            "candidates_expected": workload.candidates_expected,
            "candidates_without_text": workload.candidates_without_text,
        }
        with database.begin() as session:
            stored = store_run(session, row, read_hit_tables(file, workload))
    return summarise(stored, existing=False)


def store_run(session: Session, row: dict[str, Any], tables: Iterable[pa.Table]) -> dict[str, Any]:
    """Insert a run and its hits, replacing a run of the same digest; the row as stored."""
    for old in session.rows(sa.select(runs.c.run_id).where(runs.c.run_digest == row["run_digest"])):
        forget_run(session, old["run_id"])
    run_id = next_id(session, runs.c.run_id)
    count = 0
    for table in tables:
        owner = pa.array(np.full(table.num_rows, run_id, dtype=np.int64))
        count += session.insert(hits, table.append_column("run_id", owner))
    stored = {**row, "run_id": run_id, "hit_count": count}
    session.execute(sa.insert(runs).values(**stored))
    return stored


def forget_run(session: Session, run_id: int) -> None:
    """Delete a run, its hits and its scores."""
    for table in ("scores", "hits", "runs"):
        chosen = runs.metadata.tables[table]
        session.execute(sa.delete(chosen).where(chosen.c.run_id == run_id))


def summarise(row: dict[str, Any], *, existing: bool) -> RunSummary:
    """What a row of `runs` says of itself."""
    names = (
        "run_id",
        "benchmark",
        "system",
        "queries_expected",
        "queries_answered",
        "hit_count",
        "elapsed_s",
    )
    return RunSummary(existing=existing, **{name: row[name] for name in names})
