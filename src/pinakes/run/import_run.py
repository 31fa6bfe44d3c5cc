"""Rankings that others made, into `runs` and `hits`.

A run may be several files (CSFCube has one a facet). A file's rows for unknown papers or queries are an
error, since dropping them would raise the rest; with `unknown="create"`, unknown papers get a row without a
text, as trec_eval takes documents that no qrels name. Imported again, the same files change nothing.
"""

import hashlib
import time
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.clock import Clock, utc_now
from pinakes.database import Database, Session
from pinakes.errors import InputError, RunError
from pinakes.loaders.reading.streams import digest_file
from pinakes.names import check_name
from pinakes.run.files.formats import read_ranking
from pinakes.run.files.header import read_header
from pinakes.run.files.ranked import Ranked, keep_tag, rank_rows
from pinakes.run.files.rows import show
from pinakes.run.made_with import HEADER
from pinakes.run.stored_runs import RunSummary, find_run, store_run, summarise
from pinakes.schema import corpora, hits, load_batches, next_id, papers
from pinakes.tasks.base import check_judged
from pinakes.version import VERSION
from pinakes.workload.benchmark import open_benchmark
from pinakes.workload.workload import Workload, read_workload


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """Which files, of which format and tag, as which system's run of which benchmark.

    Without a format, each file shows its own; without a tag, the files are of one system.
    """

    benchmark: str
    system: str
    files: Sequence[Path]
    format: str | None = None
    facet: str | None = None
    unknown: str = "reject"
    tag: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """What the files rank, of which formats they are, and the lines of their headers."""

    ranked: Ranked
    formats: tuple[str, ...]
    header: tuple[str, ...] = ()


def import_run(database: Database, request: ImportRequest, *, clock: Clock = utc_now) -> RunSummary:
    """Store a ranking from files as a run of the benchmark.

    Raises:
        UnknownNameError: no such benchmark or format.
        InputError: a file is not of its format, or the files are of several systems.
        RunError: the files rank an unknown query, an unknown paper, or a paper outside the query's pool.
        EvaluationError: queries without a judgment are errors of the benchmark.
    """
    if request.unknown not in ("reject", "create"):
        raise InputError(f"unknown={request.unknown!r}: expected reject or create.")
    check_name("system", request.system, "Give another with --system.")
    if not request.files:
        raise InputError("there is no file to import.")
    started_at, started = clock(), time.monotonic()
    benchmark = open_benchmark(database, request.benchmark)
    check_judged(database, benchmark)
    workload = read_workload(database, benchmark)
    found = _read_files(request, workload)
    is_shared = workload.benchmark.pool == "shared"
    if not is_shared:
        _require_pools(workload, found.ranked)
    row = _describe(request, workload, found)
    known = find_run(database, row["run_digest"])
    if known is not None:
        return summarise(known, existing=True)
    with database.begin() as session:
        if is_shared and request.unknown == "create":
            held = _create_papers(session, benchmark.corpus, found.ranked.source_ids, request, clock)
        else:
            held = workload.source_ids, workload.paper_ids
        table = _resolve(benchmark.name, held, found.ranked)
        row |= {"started_at": started_at, "elapsed_s": time.monotonic() - started}
        return summarise(store_run(session, row, {hits: [table]}), existing=False)


_Papers = tuple[NDArray[np.object_], NDArray[np.int64]]
"""source ids and paper ids of the same papers"""


def _read_files(request: ImportRequest, workload: Workload) -> _Found:
    query_ids = set(workload.query_ids)
    read = [read_ranking(path, request.format, query_ids, request.facet) for path in request.files]
    rows = [(path.name, of_file) for path, (_, of_file) in zip(request.files, read, strict=True)]
    ranked = rank_rows(keep_tag(rows, request.tag))
    if not ranked.query_ids:
        raise InputError(f"{', '.join(path.name for path in request.files)}: no row of a ranking is there.")
    unknown = [query_id for query_id in ranked.query_ids if query_id not in query_ids]
    if unknown:
        raise RunError(
            f"{len(unknown)} queries of the files are no queries of {request.benchmark}, as "
            f"{show(unknown[0])}; expected query_id of its queries view."
        )
    named = zip(request.files, read, strict=True)
    headers = [read_header(path) for path, (format_, _) in named if format_ == "trec"]
    return _Found(
        ranked,
        tuple(sorted({format_ for format_, _ in read})),
        tuple(line for header in headers for line in header),
    )


def _describe(request: ImportRequest, workload: Workload, found: _Found) -> dict[str, Any]:
    """The columns of `runs`; what only our own systems have stays null."""
    import_digest, *others = sorted(digest_file(path) for path in request.files)
    if others:
        import_digest = hashlib.sha256(":".join([import_digest, *others]).encode()).hexdigest()
    formats = ",".join(found.formats)
    decides = [request.benchmark, request.system, formats, request.facet or "", import_digest]
    if request.tag is not None:
        decides.append(request.tag)
    return {
        "benchmark": request.benchmark,
        "system": request.system,
        "run_digest": hashlib.sha256("\0".join(["import", *decides]).encode()).hexdigest(),
        "parameters": "{}",
        "code_version": VERSION,
        "dataset_digest": workload.digest,
        "view_digest": workload.benchmark.digest,
        "queries_expected": len(workload.query_ids),
        "queries_answered": len(found.ranked.query_ids),
        "candidates_expected": workload.candidates_expected,
        "candidates_without_text": 0,
        "imported_from": ", ".join(path.name for path in request.files),
        "import_digest": import_digest,
        "made_with": orjson.dumps({HEADER: found.header}).decode() if found.header else None,
    }


def _resolve(benchmark: str, held: _Papers, found: Ranked) -> pa.Table:
    """The hits with our ids."""
    source_ids, paper_ids = held
    places = pc.index_in(found.source_ids, pa.array(source_ids, pa.large_string()))
    if places.null_count:
        unknown = found.source_ids.filter(places.is_null())
        raise RunError(
            f"{len(unknown)} papers of the files are no candidates of {benchmark}, as "
            f"{show(pc.min(unknown).as_py())}; nothing was imported. If the documents are not loaded, "
            "--unknown create makes rows for them."
        )
    query_ids = pa.array(found.query_ids, pa.string())
    return pa.table(
        {
            "query_id": pa.DictionaryArray.from_arrays(pa.array(found.queries), query_ids),
            "paper_id": pa.array(paper_ids[places.to_numpy()[found.sources]]),
            "rank": pa.array(found.ranks),
            "score": pa.array(found.scores),
        }
    )


def _require_pools(workload: Workload, found: Ranked) -> None:
    """Each hit is a candidate of its query and, where pools are grouped, not the query's own paper."""
    own_rows = np.full(len(workload.query_ids), -1) if workload.query_rows is None else workload.query_rows
    held = pa.array(workload.source_ids, pa.large_string())
    places = pc.fill_null(pc.index_in(found.source_ids, held), -1).to_numpy().astype(np.int64)
    for query_id, sources in _list_queries(found):
        position = bisect_left(workload.query_ids, query_id)
        pool = workload.pool_of(position)
        rows = places[sources]
        is_candidate = np.isin(rows, pool)
        if not is_candidate.all():
            outside = found.source_ids[int(sources[np.argmin(is_candidate)])].as_py()
            raise RunError(
                f"{show(outside)} is not in the pool of query {query_id}; "
                f"expected the candidates that {workload.benchmark.name}.candidates lists. Nothing was "
                "imported."
            )
        is_own = rows == own_rows[position]
        if is_own.any():
            own = found.source_ids[int(sources[np.argmax(is_own)])].as_py()
            raise RunError(
                f"{own} is ranked for query {query_id}, which is that paper; "
                "expected rankings without it. Nothing was imported."
            )


def _list_queries(found: Ranked) -> Iterator[tuple[str, NDArray[np.int32]]]:
    """Each query with the positions of its documents in `source_ids`, best first."""
    starts = np.searchsorted(found.queries, np.arange(len(found.query_ids) + 1))
    for number, query_id in enumerate(found.query_ids):
        yield query_id, found.sources[starts[number] : starts[number + 1]]


def _create_papers(
    session: Session, corpus: str, source_ids: pa.Array, request: ImportRequest, clock: Clock
) -> _Papers:
    """The papers of the corpus; those that only the ranking names get rows without a text."""
    corpus_id = session.scalar(sa.select(corpora.c.corpus_id).where(corpora.c.name == corpus))
    existing = sa.select(papers.c.source_id, papers.c.paper_id).where(papers.c.corpus_id == corpus_id)
    held = session.fetch_arrow(existing)
    known = held["source_id"].cast(pa.large_string())
    unknown = sorted(source_ids.filter(pc.invert(pc.is_in(source_ids, known))).to_pylist())
    papers_held = known.to_numpy(), held["paper_id"].to_numpy()
    if not unknown:
        return papers_held
    unfit = [one for one in unknown if not one.strip() or "\0" in one]
    if unfit:
        raise RunError(f"{show(unfit[0])} can be no paper's id; nothing was imported.")
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
    made = np.arange(first, first + count)
    columns = {
        "paper_id": pa.array(made),
        "corpus_id": pa.array([corpus_id] * count, pa.int32()),
        "source_id": pa.array(unknown, pa.string()),
        "batch_id": pa.array([batch_id] * count, pa.int64()),
    }
    session.insert(papers, pa.table(columns))
    source_ids_made = np.array(unknown, dtype=object)
    return np.concatenate([papers_held[0], source_ids_made]), np.concatenate([papers_held[1], made])
