"""Corpora of a folder of Parquet files taken into a database, with the ids that they have there."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import InputError, UnknownNameError
from pinakes.export.corpora.manifest import CorpusFile, Manifest, read_manifest
from pinakes.export.corpora.tables import list_corpus_tables
from pinakes.progress import Progress, Silent
from pinakes.schema import authors, check_schema, citations, cited_references, corpora, load_batches, papers
from pinakes.writing.folders import Folder, open_folder

BATCH_ROWS: Final = 50_000
_NUMBERED: Final = {
    corpora: "corpus_id",
    load_batches: "batch_id",
    papers: "paper_id",
    authors: "author_id",
    cited_references: "reference_id",
    citations: "citation_id",
}
"""tables whose ids other rows name"""


@dataclass(frozen=True, slots=True)
class TakenCorpus:
    """What was taken of a corpus."""

    corpus: str
    rows: int
    files: int


def import_corpora(
    database: Database, place: str | Path, names: Sequence[str] = (), progress: Progress | None = None
) -> list[TakenCorpus]:
    """Take corpora, by default all, from a path or an address, in one transaction; each file is checked.

    Raises:
        UnknownNameError: the folder has no such corpus.
        InputError: the folder is not whole, or the database has a corpus of the name, or the same ids.
    """
    check_schema(database)
    folder = open_folder(place)
    folder.prepare()
    manifest = read_manifest(folder)
    for name in names:
        if name not in manifest.corpora:
            raise UnknownNameError("corpus", name, list(manifest.corpora))
    chosen = list(dict.fromkeys(names or manifest.corpora))
    files = {name: [one for one in manifest.files if one.corpus == name] for name in chosen}
    report = progress or Silent()
    report.start(f"import {', '.join(chosen)}", sum(one.rows for name in chosen for one in files[name]))
    try:
        with database.begin() as session:
            _refuse_known(session, chosen)
            for name in chosen:
                _take(session, folder, manifest, name, report)
    finally:
        report.finish()
    database.tidy([table.name for table in list_corpus_tables()])
    return [TakenCorpus(name, sum(one.rows for one in files[name]), len(files[name])) for name in chosen]


def _refuse_known(session: Session, names: Sequence[str]) -> None:
    known = {str(row["name"]) for row in session.rows(sa.select(corpora.c.name))}
    for name in names:
        if name in known:
            raise InputError(
                f"this database has a corpus {name} already; remove that first (`pinakes remove "
                f"corpus {name}`), or choose another database (--db)."
            )


def _take(session: Session, folder: Folder, manifest: Manifest, name: str, report: Progress) -> None:
    for table in list_corpus_tables():
        taken = 0
        for file in manifest.files:
            if (file.corpus, file.table) == (name, table.name):
                for rows in _read(folder, file):
                    _refuse_ids(session, table, rows, name)
                    taken += session.insert(table, rows)
                    report.advance(rows.num_rows)
        expected = manifest.corpora[name].get(table.name, 0)
        if taken != expected:
            raise InputError(
                f"{folder.address} has {taken} rows of {table.name} of {name}; its manifest says {expected}. "
                "Export the corpora again."
            )


def _refuse_ids(session: Session, table: sa.Table, rows: pa.Table, corpus: str) -> None:
    """Raise `InputError` where ids of the rows are taken: those in files name each other by them."""
    if table not in _NUMBERED:
        return
    key = table.c[_NUMBERED[table]]
    staged = sa.table("staged_ids", sa.column(key.name, key.type))
    taken = sa.select(sa.func.count()).where(key.in_(sa.select(staged.c[key.name])))
    with session.staged({staged.name: rows.select([key.name])}):
        found = session.scalar(taken)
    if found:
        raise InputError(
            f"{found} ids of {table.name} that the corpus {corpus} has are taken in this database by another "
            "corpus; import it into a database of its own (--db), or before others are loaded."
        )


def _read(folder: Folder, file: CorpusFile) -> Iterator[pa.Table]:
    """The rows of a file whose bytes are as the manifest says."""
    content = folder.read_file(file.name)
    if hashlib.sha256(content).hexdigest() != file.sha256:
        raise InputError(f"{folder.address}/{file.name} is damaged; export the corpora again.")
    for part in pq.ParquetFile(pa.BufferReader(content)).iter_batches(BATCH_ROWS):
        yield pa.Table.from_batches([part])
