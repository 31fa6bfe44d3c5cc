"""Files into tables: chunk by chunk, each one transaction, going on where a killed load stopped.

A file is known by its digest, its role, the loader and the loader's options; what is in is passed over.
Leaves out: what the files mean (`pinakes.loaders`) and how rows are merged (`pinakes.loaders.merge`).
"""

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import InputError, LoadError, UnknownNameError
from pinakes.loaders.base import InputFile, Loader
from pinakes.loaders.merge import MergeContext, merge_chunk
from pinakes.loaders.reading import digest_file
from pinakes.loaders.registry import find_loader
from pinakes.loaders.staging import Chunk, Rejected
from pinakes.pipeline.load_summary import FileSummary, LoadSummary, summarise_load
from pinakes.pipeline.progress import Progress, Silent
from pinakes.schema import corpora, load_batches, next_id, rejected_rows

__all__ = ["Clock", "FileSummary", "LoadRequest", "LoadSummary", "load", "utc_now"]

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """What to load: a loader, its source, and what the user says instead of the source."""

    loader: str
    source: Path | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    corpus: str | None = None
    version: str | None = None
    licence: str | None = None


def load(
    database: Database, request: LoadRequest, *, progress: Progress | None = None, clock: Clock = utc_now
) -> LoadSummary:
    """Bring the files of a source into the tables and say what became of every record.

    Started again after a kill, it goes on with the first record that is not in; started again after the
    end, it changes nothing.

    Raises:
        UnknownNameError: no such loader or option.
        InputError: the source is not what the loader reads.
        LoadError: a file breaks off; the chunks read before that are in.
    """
    started = time.monotonic()
    loader = choose_loader(request)
    files = loader.find_files(request.source, request.options)
    with database.begin() as session:
        corpus_id, corpus = _register_corpus(session, loader, request)
    task = _Task(database, loader, request.options, corpus_id, progress or Silent(), clock)
    summaries = [_load_file(task, file) for file in files]
    return summarise_load(database, (corpus_id, corpus), summaries, task.reasons, time.monotonic() - started)


def choose_loader(request: LoadRequest) -> Loader:
    """The loader of a request, whose options it knows.

    Raises:
        UnknownNameError: no such loader or option.
    """
    loader = find_loader(request.loader)
    unknown = sorted(set(request.options) - set(loader.options))
    if unknown:
        raise UnknownNameError(f"option of the loader {loader.name}", unknown[0], list(loader.options))
    return loader


def _register_corpus(session: Session, loader: Loader, request: LoadRequest) -> tuple[int, str]:
    """The id and name of the corpus; its row is made, or brought up to date with what is said of it now."""
    described = loader.describe_corpus(request.source, request.options)
    name = request.corpus or described.name
    if not name:
        raise InputError(f"the loader {loader.name} needs a corpus; name one that is loaded with --corpus.")
    said = {"title": described.title, "version": described.version, "licence": described.licence}
    said |= {"source": described.source}
    given = {"version": request.version, "licence": request.licence}
    found = session.rows(sa.select(corpora).where(corpora.c.name == name))
    if not found:
        if not described.name and not loader.creates_unknown(request.options):
            _refuse_unknown_corpus(session, name)
        corpus_id = next_id(session, corpora.c.corpus_id)
        values = said | {key: value for key, value in given.items() if value}
        session.execute(sa.insert(corpora).values(corpus_id=corpus_id, name=name, **values))
        return corpus_id, name
    # A loader that adds to a corpus of another loader's does not know better what the corpus is.
    newer = {key: value for key, value in {**(said if described.name else {}), **given}.items() if value}
    if any(found[0][key] != value for key, value in newer.items()):
        session.execute(sa.update(corpora).where(corpora.c.name == name).values(**newer))
    return int(found[0]["corpus_id"]), name


def _refuse_unknown_corpus(session: Session, name: str) -> None:
    known = [row["name"] for row in session.rows(sa.select(corpora.c.name))]
    raise UnknownNameError("corpus", name, known, "Load its papers first.")


@dataclass(frozen=True, slots=True)
class _Task:
    database: Database
    loader: Loader
    options: Mapping[str, str]
    corpus_id: int
    progress: Progress
    clock: Clock
    reasons: list[str] = field(default_factory=list)

    def identity(self, file: InputFile, digest: str) -> dict[str, Any]:
        """What makes a file's batches the same file's."""
        options = orjson.dumps(dict(self.options), option=orjson.OPT_SORT_KEYS)
        return {
            "corpus_id": self.corpus_id,
            "loader": self.loader.name,
            "role": file.role,
            "file_digest": digest,
            "options_digest": hashlib.sha256(options).hexdigest(),
        }


def _load_file(task: _Task, file: InputFile) -> FileSummary:
    identity = task.identity(file, file.digest or digest_file(_path_of(file)))
    known = _find_batches(task.database, identity)
    is_complete = bool(known) and known[-1]["is_last"]
    summary = FileSummary(file.name, file.role, is_complete).after(known)
    if is_complete:
        return summary
    first_row = known[-1]["last_row"] + 1 if known else 1
    task.progress.start(f"load {file.name}", None)
    try:
        for chunk, is_last in _mark_last(task.loader.read_chunks(file, task.options, first_row), first_row):
            batch = _load_chunk(task, file, identity, chunk, first_row, is_last=is_last)
            summary = summary.plus(batch)
            first_row = chunk.last_row + 1
            task.progress.advance(chunk.rows_in)
    finally:
        task.progress.finish()
    return summary


def _path_of(file: InputFile) -> Path:
    if file.path is None:
        raise InputError(f"{file.name} is neither a file nor has it a digest.")
    return file.path


def _find_batches(database: Database, identity: Mapping[str, Any]) -> list[dict[str, Any]]:
    same = [load_batches.c[name] == value for name, value in identity.items()]
    with database.read() as session:
        return session.rows(sa.select(load_batches).where(*same).order_by(load_batches.c.first_row))


def _mark_last(chunks: Iterator[Chunk], first_row: int) -> Iterator[tuple[Chunk, bool]]:
    """Each chunk with whether it is the last; an empty one where there is none.

    Where the file breaks off, the chunks before it come first, none of them as the last.
    """
    waiting: Chunk | None = None
    try:
        for chunk in chunks:
            if waiting is not None:
                yield waiting, False
            waiting = chunk
    except LoadError:
        if waiting is not None:
            yield waiting, False
        raise
    yield waiting or Chunk(last_row=first_row - 1, rows_in=0), True


def _load_chunk(
    task: _Task, file: InputFile, identity: Mapping[str, Any], chunk: Chunk, first_row: int, *, is_last: bool
) -> dict[str, Any]:
    started_at, started = task.clock(), time.monotonic()
    with task.database.begin() as session:
        _refuse_second_loader(session, file, identity, first_row)
        batch_id = next_id(session, load_batches.c.batch_id)
        creates_unknown = task.loader.creates_unknown(task.options)
        context = MergeContext(task.corpus_id, batch_id, file.role, identity, creates_unknown)
        counts = merge_chunk(session, chunk, context)
        batch = {
            **identity,
            "batch_id": batch_id,
            "file": file.name,
            "first_row": first_row,
            "last_row": chunk.last_row,
            "is_last": is_last,
            "rows_in": chunk.rows_in,
            "rows_loaded": counts.loaded,
            "rows_updated": counts.updated,
            "rows_unchanged": counts.unchanged,
            "rows_rejected": len(counts.rejected),
            "started_at": started_at,
            "elapsed_s": time.monotonic() - started,
        }
        session.execute(sa.insert(load_batches).values(**batch))
        session.insert(rejected_rows, _build_rejected(batch_id, counts.rejected))
    task.reasons.extend(row.reason for row in counts.rejected)
    return batch


def _refuse_second_loader(
    session: Session, file: InputFile, identity: Mapping[str, Any], first_row: int
) -> None:
    same = [load_batches.c[name] == value for name, value in {**identity, "first_row": first_row}.items()]
    if session.rows(sa.select(load_batches.c.batch_id).where(*same)):
        raise LoadError(
            f"another process is loading {file.name} into this corpus. Wait for it, then start the same load "
            "again; what is in already is passed over."
        )


def _build_rejected(batch_id: int, rejected: list[Rejected]) -> pa.Table:
    texts = ("location", "reason", "message", "raw")
    columns = {name: pa.array([getattr(row, name) for row in rejected], pa.string()) for name in texts}
    numbers = pa.array([row.row_number for row in rejected], pa.int64())
    return pa.table(
        {"batch_id": pa.array([batch_id] * len(rejected), pa.int64()), "row_number": numbers, **columns}
    )
