"""What nothing refers to: vectors of texts that are gone, side indexes and their folders, old analyses.

The rows go in one transaction, the folders before its end: killed in between, the next collection finds the
rows again, and with them what is left of the folders.
"""

import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import sqlalchemy as sa

from pinakes.cluster.fragment_list import find_set
from pinakes.database import Database, Session
from pinakes.errors import IndexingError, PinakesError
from pinakes.faults import told_as
from pinakes.indexers.side_folder import hold_folder
from pinakes.loaders.base import OF_FILES
from pinakes.loaders.merge.origins import call_table, digest_row, names_mentions
from pinakes.removal.data import Garbage
from pinakes.removal.vectors import remove_vectors
from pinakes.schema import (
    authors,
    authorships,
    check_schema,
    fragment_sets,
    metadata,
    repeated_rows,
    restated_citations,
    runs,
    side_indexes,
    text_analyses,
)
from pinakes.schema.removal import Removed, is_cleared, remove_rows
from pinakes.settings import read_settings
from pinakes.vectors.fragment_sets import find_place, is_in_use, list_sets
from pinakes.vectors.side_index import list_unnamed, list_unused
from pinakes.writing.folders import is_address, open_folder

_DIGESTS: Final = sa.table(
    "text_digests", sa.column("paper_id"), sa.column("section_number"), sa.column("text_digest")
)
_UNFINISHED: Final = ".training"
"""ends the name of a folder that a training goes on from when it is started again"""


def collect_garbage(database: Database, index_folder: Path, *, dry_run: bool = False) -> Garbage:
    """Remove what nothing refers to; the same rows are found again by nobody, so a second call finds none."""
    check_schema(database)
    left: list[str] = []
    if dry_run:
        with database.rehearse() as rehearsal, rehearsal.begin() as session:
            rows, paths = _remove_rows(session, left)
            places = _remove_sets(session, index_folder, left)
            found = _find_folders(session, index_folder, [*paths, *places.rows], left)
            folders = _measure_all(found, index_folder) | places.elsewhere
            rows |= places.count()
        return Garbage(rows, folders, left)
    with database.begin() as session:
        rows, paths = _remove_rows(session, left)
        places = _remove_sets(session, index_folder, left)
        found = _find_folders(session, index_folder, [*paths, *places.rows], left)
        folders = _measure_all(found, index_folder) | places.elsewhere
        rows |= places.count()
        for path in found:
            _remove_folder(path)
        for place in places.elsewhere:
            _remove_files(place)
    return Garbage(rows, folders, left)


def _measure_all(found: list[Path], index_folder: Path) -> dict[str, int]:
    return {str(path.relative_to(index_folder)): _measure(path) for path in found}


def _remove_folder(path: Path) -> None:
    try:
        shutil.rmtree(path)
    except FileNotFoundError:
        if path.exists():
            raise
    except OSError as error:
        raise IndexingError(
            f"{path} cannot be removed: {error.strerror or error}. Its row stays. Mend that, and start the "
            "same command again."
        ) from error


def _remove_rows(session: Session, left: list[str]) -> tuple[dict[str, int], list[str]]:
    counts: Counter[str] = Counter(_remove_answers(session))
    counts["rows of text_analyses, of an older text"] = _remove_analyses(session)
    listed = sa.select(authorships.c.author_id)
    counts["rows of authors, of no paper"] = session.execute(
        sa.delete(authors).where(authors.c.author_id.not_in(listed))
    )
    counts["rows of repeated_rows, of rows that are gone"] = _remove_notes(session)
    counts["rows of restated_citations, of mentions that are gone"] = session.execute(
        sa.delete(restated_citations).where(~names_mentions())
    )
    unread: list[str] = []
    counts.update(remove_vectors(session, unread))
    if unread:
        left.append(
            f"The folders of the benchmarks {', '.join(unread)} are not found (PINAKES_BENCHMARKS): vectors "
            "of texts that only their views make count as of no use."
        )
    paths, removed = _remove_indexes(session)
    counts.update({f"rows of {table}": count for table, count in removed.deleted.items()})
    return {what: count for what, count in counts.items() if count}, paths


def _remove_answers(session: Session) -> dict[str, int]:
    """Answers and scores of runs that are not there; the history of their scores stays."""
    removed = {}
    known = sa.select(runs.c.run_id)
    for table in metadata.sorted_tables:
        of_runs = [one for one in table.foreign_key_constraints if one.referred_table is runs]
        if any(map(is_cleared, of_runs)):
            session.execute(sa.update(table).values(run_id=None).where(table.c.run_id.not_in(known)))
        elif of_runs:
            gone = session.execute(sa.delete(table).where(table.c.run_id.not_in(known)))
            removed[f"rows of {table.name}, of no run"] = gone
    return removed


def _remove_analyses(session: Session) -> int:
    """Analyses of a text that their paper no longer has: variants are made of today's alone."""
    is_current = sa.exists().where(
        _DIGESTS.c.paper_id == text_analyses.c.paper_id,
        _DIGESTS.c.section_number == 0,
        _DIGESTS.c.text_digest == text_analyses.c.text_digest,
    )
    of_text = text_analyses.c.text_digest.is_not(None)
    return session.execute(sa.delete(text_analyses).where(of_text, ~is_current.correlate(text_analyses)))


def _remove_notes(session: Session) -> int:
    removed = 0
    names: dict[str, list[sa.Table]] = {}
    for table in OF_FILES:
        names.setdefault(call_table(table), []).append(table)
    for name, tables in names.items():
        held = sa.union_all(*(sa.select(digest_row(table)) for table in tables))
        of_table = repeated_rows.c.table_name == name
        if session.first(sa.select(repeated_rows.c.batch_id).where(of_table).limit(1)):
            gone = sa.delete(repeated_rows).where(of_table, repeated_rows.c.row_digest.not_in(held))
            removed += session.execute(gone)
    return removed


def _remove_indexes(session: Session) -> tuple[list[str], Removed]:
    """Delete the rows of indexes of what is gone, with what is written down of them; the paths they had."""
    gone = list_unused(session)
    ids = pa.array([row["side_index_id"] for row in gone], pa.int32())
    removed = remove_rows(session, {side_indexes: pa.table({"side_index_id": ids})}) if gone else Removed()
    return [str(row["path"]) for row in gone], removed


@dataclass(frozen=True, slots=True)
class _Sets:
    """Sets of fragments that are of no use: the places that rows had, and the bytes of those elsewhere."""

    rows: list[str]
    elsewhere: dict[str, int]

    def count(self) -> dict[str, int]:
        return {"rows of fragment_sets": len(self.rows)} if self.rows else {}


def _remove_sets(session: Session, index_folder: Path, left: list[str]) -> _Sets:
    """Delete the rows of sets that are gone, older ones, and of what is gone; what is left of their files."""
    listed = list_sets(session)
    used = is_in_use(listed, session)
    gone: list[dict[str, Any]] = []
    elsewhere: dict[str, int] = {}
    for row in listed:
        place = find_place(row["place"], index_folder)
        try:
            if used[row["fragment_set_id"]] and find_set(place) is not None:
                continue
            if is_address(place) or place == row["place"]:
                elsewhere |= {place: sum(open_folder(place).list_files().values())}
        except PinakesError as error:
            left.append(f"The row of {place} stays: {error}")
            continue
        gone.append(row)
    ids = [row["fragment_set_id"] for row in gone]
    session.execute(sa.delete(fragment_sets).where(fragment_sets.c.fragment_set_id.in_(ids)))
    return _Sets(
        [str(row["place"]) for row in gone], {place: size for place, size in elsewhere.items() if size}
    )


def _remove_files(place: str) -> None:
    folder = open_folder(place)
    with told_as(IndexingError, f"{place} cannot be removed"):
        for name in folder.list_files():
            folder.remove(name)


def _find_folders(session: Session, folder: Path, paths: list[str], left: list[str]) -> list[Path]:
    """The folders of removed rows, and those below the index folder that no row names."""
    unnamed = list_unnamed(session, folder)
    if read_settings().index_folder is not None:
        others = [path for path in unnamed if str(path.relative_to(folder)) not in paths]
        if others:
            left.append(
                f"{len(others)} folders of {folder} are named by no row, and stay: other databases may have "
                "theirs in a folder that PINAKES_INDEX_FOLDER names."
            )
        unnamed = [path for path in unnamed if path not in others]
    return [path for path in unnamed if _is_free(path, left)]


def _is_free(path: Path, left: list[str]) -> bool:
    """Whether nobody works in a folder, or will go on there."""
    if path.name.endswith(_UNFINISHED):
        left.append(f"{path} stays: a training that was stopped goes on from it.")
        return False
    try:
        with hold_folder(path, str(path)):
            return True
    except IndexingError:
        left.append(f"{path} stays: another process works in it.")
        return False


def _measure(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
