"""The one life cycle of a stored index: a folder beside the database, and its row in `side_indexes`.

It is built under a temporary name and sealed (`indexers.side_folder`), entered in its row, found again, and
compared with the texts and settings of today; a newer one takes its row, and the replaced folder goes. A note
beside the newer one says which that is, until it is gone.
"""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import orjson
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import IndexingError, RunError
from pinakes.faults import told_as
from pinakes.indexers.side_folder import folder_name, is_whole
from pinakes.schema import benchmarks, corpora, encoders, fragment_sets, next_id, side_indexes

Row = dict[str, Any]
"""a row of `side_indexes`, but for the time when it was built, for which DuckDB would load all time zones"""
_READ: Final = tuple(column for column in side_indexes.c if column.name != "built_at")


@dataclass(frozen=True, slots=True)
class SideIndex:
    """One stored index.

    Attributes:
        folder: where all side indexes lie.
        kind, scope, paper_template, encoder: what it is known by in `side_indexes`.
        room: the folder of its kind.
        named: what its own folder's name says, before the digest.
    """

    folder: Path
    kind: str
    scope: str
    paper_template: str
    room: str
    named: tuple[str, ...]
    encoder: str = ""

    @property
    def identity(self) -> dict[str, str]:
        """What the row is known by."""
        return identify(self.kind, self.scope, self.paper_template, self.encoder)

    def find(self, database: Database) -> Row | None:
        """Its row; None where it was never built."""
        with database.read() as session:
            return find_row(session, self.identity)

    def path(self, row: Row) -> Path:
        """The folder that a row names."""
        return self.folder / str(row["path"])

    def ensure(
        self,
        database: Database,
        digest: str,
        build: Callable[[Path], Mapping[str, Any]],
        parameters: Mapping[str, Any] | None = None,
    ) -> tuple[Row, bool]:
        """The row of an index of that digest and those parameters, and whether it was built now.

        `build` fills a folder and gives the columns `parameters`, `row_count` and, where measured, recall.

        Raises:
            IndexingError: the folder cannot be written, or the one that it replaces cannot be removed.
        """
        existing = self.find(database)
        if existing and self._is_current(existing, digest, parameters or {}):
            self._remove_replaced(existing)
            return existing, False
        path = Path(self.room) / folder_name(*self.named, digest[:16])
        with told_as(IndexingError, f"no index can be kept in {self.folder}"):
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        values = {**build(self.folder / path), "content_digest": digest, "path": str(path)}
        if existing and existing["path"] != str(path):
            with told_as(IndexingError, f"no index can be kept in {self.folder}"):
                _note_beside(self.folder / path).write_text(str(existing["path"]), encoding="utf-8")
        with database.begin() as session:
            row = store_row(session, self.identity, values)
        self._remove_replaced(row)
        return row, True

    def _remove_replaced(self, row: Row) -> None:
        """Remove the folder that this index took the place of; a stopped command left it, or its note."""
        built = self.path(row)
        note = _note_beside(built)
        with told_as(IndexingError, f"{built} is built, but the index that it replaces cannot be removed"):
            if not note.exists():
                return
            replaced = note.read_text(encoding="utf-8")
            for folder in _list_folders(self.folder):
                if folder != built and str(folder.relative_to(self.folder)) == replaced:
                    shutil.rmtree(folder)
            note.unlink(missing_ok=True)

    def _is_current(self, row: Row, digest: str, parameters: Mapping[str, Any]) -> bool:
        stored = orjson.loads(row["parameters"])
        same = all(stored.get(name) == value for name, value in parameters.items())
        return same and row["content_digest"] == digest and is_whole(self.path(row))

    def require(
        self,
        database: Database,
        digest: Callable[[], str],
        *,
        what: str,
        command: str,
        built_from: str = "texts or settings",
    ) -> Row:
        """The row of an index that exists and is of today's digest.

        Raises:
            RunError: it does not exist, or is stale; the message says `what` it is and has the `command`.
        """
        row = self.find(database)
        if row is None or not self.path(row).is_dir():
            raise RunError(f"there is no {what} under {self.folder}; build it with {command}.")
        if row["content_digest"] != digest():
            raise RunError(
                f"the {what} was built from other {built_from} than those of today; build it again with "
                f"{command}."
            )
        return row


def identify(kind: str, scope: str, paper_template: str = "", encoder: str = "") -> dict[str, str]:
    """What a row of `side_indexes` is known by.

    >>> identify("bm25", "corpus:c", "title")["scope"]
    'corpus:c'
    """
    return {"kind": kind, "scope": scope, "paper_template": paper_template, "encoder": encoder}


def find_row(session: Session, identity: Mapping[str, str]) -> Row | None:
    """The row of `side_indexes` of that kind, scope, template and encoder."""
    same = [side_indexes.c[name] == value for name, value in identity.items()]
    return session.first(sa.select(*_READ).where(*same))


def store_row(session: Session, identity: Mapping[str, str], values: Mapping[str, Any]) -> Row:
    """Insert the row of an index, or bring it up to date; the row as stored."""
    existing = find_row(session, identity)
    row = {**identity, **values, "built_at": datetime.now(UTC)}
    row["parameters"] = orjson.dumps(row["parameters"], option=orjson.OPT_SORT_KEYS).decode()
    if existing is None:
        row["side_index_id"] = next_id(session, side_indexes.c.side_index_id)
        session.execute(sa.insert(side_indexes).values(**row))
    else:
        row["side_index_id"] = existing["side_index_id"]
        chosen = side_indexes.c.side_index_id == existing["side_index_id"]
        session.execute(sa.update(side_indexes).where(chosen).values(**row))
    return row


def list_unused(session: Session) -> list[Row]:
    """The rows of indexes of corpora, encoders and benchmarks that are gone."""
    known = {
        kind: {str(row["name"]) for row in session.rows(sa.select(table.c.name))}
        for kind, table in (("corpora", corpora), ("encoders", encoders), ("benchmarks", benchmarks))
    }
    return [row for row in session.rows(sa.select(side_indexes)) if not _is_used(row, known)]


def _is_used(row: Row, known: Mapping[str, set[str]]) -> bool:
    """Whether what the index is of is there: its corpora and its encoder, or its benchmark."""
    kind, _, name = str(row["scope"]).partition(":")
    if kind == "vectors":
        return name in known["encoders"]
    if kind == "corpus":
        has_encoder = not row["encoder"] or row["encoder"] in known["encoders"]
        parts = [name] if name in known["corpora"] else name.split(" counted in ")
        return has_encoder and all(part in known["corpora"] for part in parts)
    return kind in known["benchmarks"]


def list_unnamed(session: Session, folder: Path) -> list[Path]:
    """The folders of side indexes and of fragments that no row names."""
    named = {str(row["path"]) for row in session.rows(sa.select(side_indexes.c.path))}
    named |= {str(row["place"]) for row in session.rows(sa.select(fragment_sets.c.place))}
    return [path for path in _list_folders(folder) if str(path.relative_to(folder)) not in named]


def _list_folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*/*") if path.is_dir()) if folder.is_dir() else []


def _note_beside(folder: Path) -> Path:
    """The file that names the folder which this one takes the place of."""
    return folder.with_name(f".{folder.name}.replaces")
