"""Rankings that others made, into `runs` and `hits`.

A run may be several files (CSFCube has one a facet). A file's rows for unknown papers or queries are an
error, since dropping them would raise the rest; with `unknown="create"`, unknown papers get a row without a
text, as trec_eval takes documents that no qrels name. Imported again, the same files change nothing.
"""

import hashlib
import time
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import sqlalchemy as sa

from pinakes import __version__
from pinakes.clock import Clock, utc_now
from pinakes.database import Database, Session
from pinakes.errors import InputError, RunError, UnknownNameError
from pinakes.loaders.reading.streams import digest_file
from pinakes.queries.definition import Benchmark
from pinakes.run.files import FORMATS, FileHit
from pinakes.run.stored_runs import RunSummary, find_run, store_run, summarise
from pinakes.schema import corpora, hits, load_batches, next_id, papers
from pinakes.tasks.base import check_judged
from pinakes.workload.benchmark import open_benchmark
from pinakes.workload.workload import Workload, read_workload


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """Which files, of which format, as which system's run of which benchmark."""

    benchmark: str
    system: str
    files: Sequence[Path]
    format: str = "trec"
    facet: str | None = None
    unknown: str = "reject"


def import_run(database: Database, request: ImportRequest, *, clock: Clock = utc_now) -> RunSummary:
    """Store a ranking from files as a run of the benchmark.

    Raises:
        UnknownNameError: no such benchmark or format.
        InputError: a file is not of its format.
        RunError: the files rank an unknown query, an unknown paper, or a paper outside the query's pool.
        EvaluationError: queries without a judgment are errors of the benchmark.
    """
    if request.format not in FORMATS:
        raise UnknownNameError("format of rankings", request.format, list(FORMATS))
    if request.unknown not in ("reject", "create"):
        raise InputError(f"unknown={request.unknown!r}: expected reject or create.")
    if not request.files:
        raise InputError("there is no file to import.")
    started_at, started = clock(), time.monotonic()
    benchmark = open_benchmark(database, request.benchmark)
    check_judged(database, benchmark)
    workload = read_workload(database, benchmark)
    found = _read_files(request, workload)
    is_shared = workload.benchmark.pool == "shared"
    if not is_shared:
        _require_pools(workload, found)
    row = _describe(request, workload, found)
    known = find_run(database, row["run_digest"])
    if known is not None:
        return summarise(known, existing=True)
    with database.begin() as session:
        if is_shared and request.unknown == "create":
            named = {hit.source_id for hit in found}
            paper_ids = _create_papers(session, benchmark.corpus, named, request, clock)
        else:
            paper_ids = dict(zip(workload.source_ids.tolist(), workload.paper_ids.tolist(), strict=True))
        table = _resolve(benchmark, paper_ids, found)
        row |= {"started_at": started_at, "elapsed_s": time.monotonic() - started}
        return summarise(store_run(session, row, {hits: [table]}), existing=False)


def _read_files(request: ImportRequest, workload: Workload) -> list[FileHit]:
    query_ids = set(workload.query_ids)
    read = FORMATS[request.format]
    found = [hit for path in request.files for hit in read(path, query_ids, request.facet)]
    unknown = sorted({hit.query_id for hit in found} - query_ids)
    if unknown:
        raise RunError(
            f"{len(unknown)} queries of the files are no queries of {request.benchmark}, as {unknown[0]}; "
            "expected query_id of its queries view."
        )
    pairs = {(hit.query_id, hit.source_id) for hit in found}
    if len(pairs) != len(found):
        raise RunError("two of the files rank the same paper for the same query; expected each pair once.")
    return found


def _describe(request: ImportRequest, workload: Workload, found: list[FileHit]) -> dict[str, Any]:
    """The columns of `runs`; what only our own systems have stays null."""
    import_digest, *others = sorted(digest_file(path) for path in request.files)
    if others:
        import_digest = hashlib.sha256(":".join([import_digest, *others]).encode()).hexdigest()
    decides = (request.benchmark, request.system, request.format, request.facet or "", import_digest)
    return {
        "benchmark": request.benchmark,
        "system": request.system,
        "run_digest": hashlib.sha256("\0".join(("import", *decides)).encode()).hexdigest(),
        "parameters": "{}",
        "code_version": __version__,
        "dataset_digest": workload.digest,
        "view_digest": workload.benchmark.digest,
        "queries_expected": len(workload.query_ids),
        "queries_answered": len({hit.query_id for hit in found}),
        "candidates_expected": workload.candidates_expected,
        "candidates_without_text": 0,
        "imported_from": ", ".join(path.name for path in request.files),
        "import_digest": import_digest,
    }


def _resolve(benchmark: Benchmark, paper_ids: Mapping[str, int], found: list[FileHit]) -> pa.Table:
    """The hits with our ids."""
    unknown = sorted({hit.source_id for hit in found if hit.source_id not in paper_ids})
    if unknown:
        raise RunError(
            f"{len(unknown)} papers of the files are no candidates of {benchmark.name}, as {unknown[0]}; "
            "nothing was imported. If the documents are not loaded, --unknown create makes rows for them."
        )
    return pa.table(
        {
            "query_id": pa.array([hit.query_id for hit in found], pa.string()),
            "paper_id": pa.array([paper_ids[hit.source_id] for hit in found], pa.int64()),
            "rank": pa.array([hit.rank for hit in found], pa.int32()),
            "score": pa.array([hit.score for hit in found], pa.float64()),
        }
    )


def _require_pools(workload: Workload, found: list[FileHit]) -> None:
    """Each hit is a candidate of its query and, where pools are grouped, not the query's own paper."""
    row_of = {source_id: row for row, source_id in enumerate(workload.source_ids.tolist())}
    own_rows = np.full(len(workload.query_ids), -1) if workload.query_rows is None else workload.query_rows
    ranked: dict[str, list[str]] = {}
    for hit in found:
        ranked.setdefault(hit.query_id, []).append(hit.source_id)
    for query_id, source_ids in ranked.items():
        position = bisect_left(workload.query_ids, query_id)
        pool = workload.pool_of(position)
        rows = np.array([row_of.get(source_id, -1) for source_id in source_ids], dtype=np.int64)
        is_candidate = pool[np.minimum(np.searchsorted(pool, rows), len(pool) - 1)] == rows
        if not is_candidate.all():
            raise RunError(
                f"{source_ids[int(np.argmin(is_candidate))]} is not in the pool of query {query_id}; "
                f"expected the candidates that {workload.benchmark.name}.candidates lists. Nothing was "
                "imported."
            )
        is_own = rows == own_rows[position]
        if is_own.any():
            raise RunError(
                f"{source_ids[int(np.argmax(is_own))]} is ranked for query {query_id}, which is that paper; "
                "expected rankings without it. Nothing was imported."
            )


def _create_papers(
    session: Session, corpus: str, source_ids: set[str], request: ImportRequest, clock: Clock
) -> dict[str, int]:
    """Source id -> paper id of the corpus; papers that only the ranking names get rows without a text."""
    corpus_id = session.scalar(sa.select(corpora.c.corpus_id).where(corpora.c.name == corpus))
    existing = sa.select(papers.c.source_id, papers.c.paper_id).where(papers.c.corpus_id == corpus_id)
    paper_ids = {row["source_id"]: row["paper_id"] for row in session.rows(existing)}
    unknown = sorted(source_ids - paper_ids.keys())
    if not unknown:
        return paper_ids
    batch_id, count = next_id(session, load_batches.c.batch_id), len(unknown)
    session.execute(
        sa.insert(load_batches).values(
            batch_id=batch_id,
            corpus_id=corpus_id,
            loader="import-run",
            file=", ".join(path.name for path in request.files),
            file_digest=hashlib.sha256("\0".join(unknown).encode()).hexdigest(),
            role="papers",
            options_digest="",
            first_row=1,
            last_row=count,
            is_last=True,
            round=1,
            rows_in=count,
            rows_loaded=count,
            **dict.fromkeys(("citations", "rows_updated", "rows_unchanged", "rows_rejected"), 0),
            started_at=clock(),
            elapsed_s=0.0,
        )
    )
    first = next_id(session, papers.c.paper_id)
    made = dict(zip(unknown, range(first, first + count), strict=True))
    columns = {
        "paper_id": pa.array(made.values(), pa.int64()),
        "corpus_id": pa.array([corpus_id] * count, pa.int32()),
        "source_id": pa.array(unknown, pa.string()),
        "batch_id": pa.array([batch_id] * count, pa.int64()),
    }
    session.insert(papers, pa.table(columns))
    return {**paper_ids, **made}
