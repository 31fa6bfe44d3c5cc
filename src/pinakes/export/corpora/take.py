"""Corpora of a folder of Parquet files taken into a database, with the ids that they have there."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import InputError, UnknownNameError
from pinakes.export.corpora.manifest import CorpusFile, Manifest, read_manifest
from pinakes.export.corpora.tables import list_corpus_tables
from pinakes.load.late_indexes import build_late
from pinakes.memory import plan_memory
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
    manifest = read_manifest(folder)
    for name in names:
        if name not in manifest.corpora:
            raise UnknownNameError("corpus", name, list(manifest.corpora))
    chosen = list(dict.fromkeys(names or manifest.corpora))
    files = {name: [one for one in manifest.files if one.corpus == name] for name in chosen}
    report = progress or Silent()
    report.start(f"import {', '.join(chosen)}", sum(one.rows for name in chosen for one in files[name]))
    try:
        memory = plan_memory(None).database
        with build_late(database, memory, gives_papers=False), database.begin() as session:
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
        held = _find_ids(session, table)
        for file in manifest.files:
            if (file.corpus, file.table) == (name, table.name):
                content = _read(folder, file)
                _refuse_ids(session, table, held, content, name)
                for part in pq.ParquetFile(content).iter_batches(BATCH_ROWS):
                    taken += session.insert(table, pa.Table.from_batches([part]))
                    report.advance(part.num_rows)
        expected = manifest.corpora[name].get(table.name, 0)
        if taken != expected:
            raise InputError(
                f"{folder.address} has {taken} rows of {table.name} of {name}; its manifest says {expected}. "
                "Export the corpora again."
            )


def _find_ids(session: Session, table: sa.Table) -> tuple[int, int] | None:
    """The least and the greatest id that the database has; None where it has none, or nothing names them."""
    if table not in _NUMBERED:
        return None
    key = table.c[_NUMBERED[table]]
    row = session.rows(sa.select(sa.func.min(key).label("least"), sa.func.max(key).label("greatest")))[0]
    return None if row["least"] is None else (int(row["least"]), int(row["greatest"]))


def _refuse_ids(
    session: Session, table: sa.Table, held: tuple[int, int] | None, content: pa.BufferReader, corpus: str
) -> None:
    """Raise `InputError` where ids of a file are taken: those in files name each other by them.

    `held` are the bounds of the ids that were there before the table's first file: what lies without them is
    not looked up.
    """
    if held is None:
        return
    key = table.c[_NUMBERED[table]]
    ids = pq.read_table(content, columns=[key.name])
    content.seek(0)
    within = pc.and_(pc.greater_equal(ids[key.name], held[0]), pc.less_equal(ids[key.name], held[1]))
    ids = ids.filter(within)
    if not ids.num_rows:
        return
    staged = sa.table("staged_ids", sa.column(key.name, key.type))
    with session.staged({staged.name: ids}):
        found = session.scalar(
            sa.select(sa.func.count()).where(key.in_(sa.select(staged.c[key.name])), key.between(*held))
        )
    if found:
        raise InputError(
            f"{found} ids of {table.name} that the corpus {corpus} has are taken in this database by another "
            "corpus; import it into a database of its own (--db), or before others are loaded."
        )


def _read(folder: Folder, file: CorpusFile) -> pa.BufferReader:
    """A file whose bytes are as the manifest says."""
    content = folder.read_file(file.name)
    if hashlib.sha256(content).hexdigest() != file.sha256:
        raise InputError(f"{folder.address}/{file.name} is damaged; export the corpora again.")
    return pa.BufferReader(content)
