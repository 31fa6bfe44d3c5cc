"""Corpora as Parquet files, partitioned by corpus and by a hash of the paper's id, in bounded memory.

Each file has its sha256 in its name, and counts once the manifest names it, which is written last: a folder
has the corpora of before, or those of now, whatever happens. What the manifest does not name is removed then.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import InputError, PinakesError, UnknownNameError
from pinakes.export.corpora.manifest import MANIFEST, CorpusFile, Manifest, write_manifest
from pinakes.export.corpora.tables import (
    find_bucket_column,
    is_of_corpus,
    list_corpus_tables,
    make_schema,
    number_buckets,
    select_rows,
)
from pinakes.faults import told_as
from pinakes.indexers.side_folder import describe_file
from pinakes.progress import Progress, Silent
from pinakes.schema import check_schema, corpora, papers
from pinakes.writing.folders import Folder, open_folder

PAPERS_A_BUCKET: Final = 1_000_000
MOST_BUCKETS: Final = 1024
BYTES_HELD: Final = 256 << 20
"""rows of all buckets that wait to be written, in bytes"""
_OURS: Final = re.compile(r"[a-z_]+/corpus=[^/]+/(bucket=\d+/)?part-[0-9a-f]{16}\.parquet")


@dataclass(frozen=True, slots=True)
class ExportedCorpus:
    """What was written of a corpus."""

    corpus: str
    papers: int
    rows: int
    tables: int
    files: int
    bytes: int
    buckets: int


def export_corpora(
    database: Database,
    place: str | Path,
    names: Sequence[str] = (),
    buckets: int | None = None,
    progress: Progress | None = None,
) -> list[ExportedCorpus]:
    """Write corpora, by default all, below a path or an address; all of one moment.

    `buckets` of each table; None: one for each million papers of the corpus.

    Raises:
        UnknownNameError: there is no such corpus.
        InputError: there is none at all, the number of buckets cannot be, or a folder cannot be written.
    """
    check_schema(database)
    if buckets is not None and not 1 <= buckets <= MOST_BUCKETS:
        raise InputError(f"{buckets} buckets: expected 1 to {MOST_BUCKETS}.")
    folder = open_folder(place)
    with told_as(InputError, f"{folder.address} cannot be written"):
        folder.prepare()
        with database.read() as session:
            return _Writer(session, folder, progress or Silent()).write(names, buckets)


class _Writer:
    def __init__(self, session: Session, folder: Folder, progress: Progress) -> None:
        self._session, self._folder, self._progress = session, folder, progress

    def write(self, names: Sequence[str], buckets: int | None) -> list[ExportedCorpus]:
        """Write all files, then the manifest."""
        chosen = self._choose(names)
        exported: list[ExportedCorpus] = []
        files: list[CorpusFile] = []
        rows: dict[str, dict[str, int]] = {}
        for name, corpus_id in chosen.items():
            count = self._count(papers, corpus_id)
            used = buckets or min(MOST_BUCKETS, max(1, -(-count // PAPERS_A_BUCKET)))
            written = list(self._write_corpus(name, corpus_id, used, rows.setdefault(name, {})))
            files += written
            size = sum(one.bytes for one in written)
            total, tables = sum(rows[name].values()), len({one.table for one in written})
            exported.append(ExportedCorpus(name, count, total, tables, len(written), size, used))
        manifest = Manifest(rows, files)
        for one in files:
            self._folder.sync(one.name)
        write_manifest(self._folder, manifest)
        self._remove_others({one.name for one in files})
        return exported

    def _choose(self, names: Sequence[str]) -> dict[str, int]:
        found = self._session.rows(sa.select(corpora.c.name, corpora.c.corpus_id).order_by(corpora.c.name))
        known = {str(row["name"]): int(row["corpus_id"]) for row in found}
        if not known:
            raise InputError("no corpus is loaded that could be exported; load one with `pinakes load`.")
        for name in names:
            if name not in known:
                raise UnknownNameError("corpus", name, list(known))
        return {name: known[name] for name in dict.fromkeys(names or known)}

    def _count(self, table: sa.Table, corpus_id: int) -> int:
        counted = sa.select(sa.func.count()).select_from(table).where(is_of_corpus(table, corpus_id))
        return int(self._session.scalar(counted))

    def _write_corpus(
        self, name: str, corpus_id: int, buckets: int, rows: dict[str, int]
    ) -> Iterator[CorpusFile]:
        for table in list_corpus_tables():
            expected = self._count(table, corpus_id)
            self._progress.start(f"export {table.name} of {name}", expected)
            try:
                written = self._write_table(table, name, corpus_id, buckets) if expected else []
            finally:
                self._progress.finish()
            rows[table.name] = sum(one.rows for one in written)
            if rows[table.name] != expected:
                raise PinakesError(
                    f"{table.name} has {expected} rows of {name}, and {rows[table.name]} were written; the "
                    "folder is as it was. Start the same command again."
                )
            yield from written

    def _write_table(self, table: sa.Table, name: str, corpus_id: int, buckets: int) -> list[CorpusFile]:
        column, schema = find_bucket_column(table), make_schema(table)
        with ExitStack() as opened:
            spread = _Spread(self._folder, opened, schema)
            for part in self._session.stream(select_rows(table, corpus_id)):
                rows = _cast(part, schema)
                numbers = np.zeros(rows.num_rows, np.int64)
                if column is not None:
                    numbers = number_buckets(rows[column].to_numpy(), buckets)
                spread.add(rows, numbers)
                self._progress.advance(rows.num_rows)
            below = f"{table.name}/corpus={quote(name, safe='')}"
            return [
                self._name(below, table.name, name, None if column is None else number, buckets, made, count)
                for number, made, count in spread.finish()
            ]

    def _name(
        self, below: str, table: str, corpus: str, bucket: int | None, buckets: int, made: Path, rows: int
    ) -> CorpusFile:
        described = describe_file(made)
        of_bucket = "" if bucket is None else f"/bucket={bucket:0{len(str(buckets - 1))}}"
        file = f"{below}{of_bucket}/part-{described['sha256'][:16]}.parquet"
        self._folder.put(made, file)
        return CorpusFile(file, table, corpus, bucket, rows, **described)

    def _remove_others(self, named: set[str]) -> None:
        for name in self._folder.list_files():
            if name not in named and (_OURS.fullmatch(name) or name.endswith(".writing")):
                self._folder.remove(name)


class _Spread:
    """The files of a table's buckets, all open; the fullest is written to when much is waiting."""

    def __init__(self, folder: Folder, opened: ExitStack, schema: pa.Schema) -> None:
        self._folder, self._opened, self._schema = folder, opened, schema
        self._files: dict[int, tuple[Path, pq.ParquetWriter]] = {}
        self._waiting: dict[int, list[pa.Table]] = {}
        self._bytes: dict[int, int] = {}
        self._rows: dict[int, int] = {}

    def add(self, rows: pa.Table, numbers: Any) -> None:
        order = np.argsort(numbers, kind="stable")
        found, starts = np.unique(numbers[order], return_index=True)
        for number, places in zip(found.tolist(), np.split(order, starts[1:]), strict=True):
            part = rows if len(found) == 1 else rows.take(places)
            self._waiting.setdefault(number, []).append(part)
            self._bytes[number] = self._bytes.get(number, 0) + part.nbytes
            self._rows[number] = self._rows.get(number, 0) + part.num_rows
        while sum(self._bytes.values()) > BYTES_HELD:
            self._write(max(self._bytes, key=lambda number: self._bytes[number]))

    def finish(self) -> Iterator[tuple[int, Path, int]]:
        """Each bucket that has rows, its file, and how many."""
        for number in sorted(self._rows):
            self._write(number)
            made, writer = self._files[number]
            writer.close()
            yield number, made, self._rows[number]

    def _write(self, number: int) -> None:
        if number not in self._files:
            made = self._opened.enter_context(self._folder.make_file(f"{MANIFEST}-{number}"))
            writer = pq.ParquetWriter(made, self._schema, compression="zstd", write_page_checksum=True)
            self._files[number] = made, self._opened.enter_context(writer)
        if waiting := self._waiting.pop(number, []):
            self._files[number][1].write_table(pa.concat_tables(waiting))
        self._bytes.pop(number, None)


def _cast(part: pa.Table, schema: pa.Schema) -> pa.Table:
    columns = [part[field.name].cast(field.type) for field in schema]
    return pa.table(columns, schema=schema)
