"""Files into tables: chunk by chunk, each one transaction, going on where a killed load stopped.

A file is known by its digest, its role, the loader and the loader's options; what is in is passed over.
Leaves out: what the files mean (`pinakes.loaders`) and how rows are merged (`pinakes.loaders.merge`).
"""

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import orjson
import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import InputError, UnknownNameError
from pinakes.loaders.base import CorpusDescription, InputFile, Loader
from pinakes.loaders.merge import MergeContext, merge_chunk
from pinakes.loaders.reading import digest_file
from pinakes.loaders.registry import find_loader
from pinakes.loaders.staging import Chunk
from pinakes.pipeline.progress import Progress, Silent
from pinakes.schema import corpora, load_batches, rejected_rows

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class FileSummary:
    """What became of one file: `rows_in` = `rows_loaded` + `rows_rejected`."""

    file: str
    role: str
    was_loaded_before: bool
    rows_in: int = 0
    rows_loaded: int = 0
    rows_updated: int = 0
    rows_unchanged: int = 0
    rows_rejected: int = 0


@dataclass(frozen=True, slots=True)
class LoadSummary:
    """What became of a load, file by file, and what the corpus holds after it."""

    corpus: str
    files: list[FileSummary]
    reasons: dict[str, int]
    papers: int
    papers_without_title: int
    papers_without_abstract: int
    elapsed_s: float

    @property
    def rows_in(self) -> int:
        """Records read, over all files."""
        return sum(file.rows_in for file in self.files)

    @property
    def rows_loaded(self) -> int:
        """Records accepted, over all files."""
        return sum(file.rows_loaded for file in self.files)

    @property
    def rows_rejected(self) -> int:
        """Records rejected, over all files."""
        return sum(file.rows_rejected for file in self.files)


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
        LoadError: a file breaks off; what was read before it is in.
    """
    started = time.monotonic()
    loader = find_loader(request.loader)
    unknown = sorted(set(request.options) - set(loader.options))
    if unknown:
        raise UnknownNameError(f"option of the loader {loader.name}", unknown[0], list(loader.options))
    files = loader.find_files(request.source, request.options)
    corpus = _describe_corpus(loader, request)
    with database.begin() as session:
        corpus_id = _register_corpus(session, corpus)
    task = _Task(database, loader, request.options, corpus_id, progress or Silent(), clock)
    summaries = [_load_file(task, file) for file in files]
    return _summarise(database, corpus.name, corpus_id, summaries, time.monotonic() - started)


def _describe_corpus(loader: Loader, request: LoadRequest) -> CorpusDescription:
    corpus = loader.describe_corpus(request.source, request.options)
    given = {"name": request.corpus, "version": request.version, "licence": request.licence}
    corpus = replace(corpus, **{key: value for key, value in given.items() if value})
    if not corpus.name:
        raise InputError(f"the loader {loader.name} needs a corpus; name one that is loaded with --corpus.")
    return corpus


def _register_corpus(session: Session, corpus: CorpusDescription) -> int:
    """The id of the corpus; its row is made, or brought up to date where the loader knows better."""
    found = session.rows(sa.select(corpora).where(corpora.c.name == corpus.name))
    described = {
        "title": corpus.title,
        "version": corpus.version,
        "licence": corpus.licence,
        "source": corpus.source,
    }
    if not found:
        last = session.scalar(sa.select(sa.func.coalesce(sa.func.max(corpora.c.corpus_id), 0)))
        session.execute(sa.insert(corpora).values(corpus_id=last + 1, name=corpus.name, **described))
        return int(last) + 1
    newer = {key: value for key, value in described.items() if value and value != found[0][key]}
    if newer and corpus.title:
        session.execute(sa.update(corpora).where(corpora.c.name == corpus.name).values(**newer))
    return int(found[0]["corpus_id"])


@dataclass(frozen=True, slots=True)
class _Task:
    database: Database
    loader: Loader
    options: Mapping[str, str]
    corpus_id: int
    progress: Progress
    clock: Clock

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
    if known and known[-1]["is_last"]:
        return FileSummary(file.name, file.role, was_loaded_before=True)
    first_row = known[-1]["last_row"] + 1 if known else 1
    summary = FileSummary(file.name, file.role, was_loaded_before=False)
    task.progress.start(f"load {file.name}", None)
    try:
        for chunk, is_last in _mark_last(task.loader.read_chunks(file, task.options, first_row), first_row):
            batch = _load_chunk(task, file, identity, chunk, first_row, is_last=is_last)
            summary = _add(summary, batch)
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


_Item = TypeVar("_Item")


def _mark_last(chunks: Iterator[Chunk], first_row: int) -> Iterator[tuple[Chunk, bool]]:
    """Each chunk with whether it is the last; an empty one where there is none."""
    end = Chunk(last_row=-1, rows_in=0)
    found = False
    for chunk, following in pairwise(_followed_by(chunks, end)):
        found = True
        yield chunk, following is end
    if not found:
        yield Chunk(last_row=first_row - 1, rows_in=0), True


def _followed_by(items: Iterator[_Item], end: _Item) -> Iterator[_Item]:
    yield from items
    yield end


def _load_chunk(
    task: _Task, file: InputFile, identity: Mapping[str, Any], chunk: Chunk, first_row: int, *, is_last: bool
) -> dict[str, Any]:
    started_at, started = task.clock(), time.monotonic()
    with task.database.begin() as session:
        last_id = session.scalar(sa.select(sa.func.coalesce(sa.func.max(load_batches.c.batch_id), 0)))
        batch_id = int(last_id) + 1
        creates_unknown = task.loader.creates_unknown(task.options)
        context = MergeContext(
            task.corpus_id, batch_id, file.role, str(identity["file_digest"]), creates_unknown
        )
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
        if counts.rejected:
            session.insert(rejected_rows, _rejected_table(batch_id, counts.rejected))
    return batch


def _rejected_table(batch_id: int, rejected: list[Any]) -> pa.Table:
    columns = ("row_number", "location", "reason", "message", "raw")
    arrays = {name: [getattr(row, name) for row in rejected] for name in columns}
    return pa.table({"batch_id": pa.array([batch_id] * len(rejected), pa.int64()), **arrays})


def _add(summary: FileSummary, batch: Mapping[str, Any]) -> FileSummary:
    names = ("rows_in", "rows_loaded", "rows_updated", "rows_unchanged", "rows_rejected")
    return replace(summary, **{name: getattr(summary, name) + batch[name] for name in names})


_CORPUS_COUNTS = """
SELECT
    COUNT(*) AS papers,
    COUNT(*) - COUNT(title) AS papers_without_title,
    COUNT(*) - COUNT(abstract) AS papers_without_abstract
FROM papers
WHERE corpus_id = :corpus_id
"""

_REASONS = """
SELECT rejected_rows.reason, COUNT(*) AS rejected
FROM rejected_rows
INNER JOIN load_batches ON rejected_rows.batch_id = load_batches.batch_id
WHERE load_batches.corpus_id = :corpus_id
GROUP BY rejected_rows.reason
ORDER BY rejected_rows.reason
"""


def _summarise(
    database: Database, corpus: str, corpus_id: int, files: list[FileSummary], elapsed_s: float
) -> LoadSummary:
    values = {"corpus_id": corpus_id}
    with database.read() as session:
        counts = session.rows(_CORPUS_COUNTS, values)[0]
        reasons = {row["reason"]: int(row["rejected"]) for row in session.rows(_REASONS, values)}
    return LoadSummary(corpus, files, reasons, **counts, elapsed_s=elapsed_s)
