"""Databases with the folder that belongs to them: prepared once, copied for each fault, dumped."""

import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final, Protocol

import sqlalchemy as sa

from pinakes.database import connect_read_only
from tests.faults.commands import Place
from tests.postgres import OwnPostgres, PostgresServer

FILE: Final = "pinakes.duckdb"
INDEXES: Final = "indexes"
_LEFT_OUT: Final = ("elapsed_s", "_at", "evaluation_id")
"""ends of the names of columns that are times, or numbers of events"""
_EVENTS: Final = ("evaluations",)
"""tables of what was done: what was killed behind its commit is stored once more"""
_COLUMNS: Final = """
SELECT columns.table_name, columns.column_name
FROM information_schema.columns AS columns
INNER JOIN information_schema.tables AS tables
    ON columns.table_schema = tables.table_schema AND columns.table_name = tables.table_name
WHERE tables.table_type = 'BASE TABLE' AND columns.table_schema IN ('main', 'public')
ORDER BY columns.table_name, columns.ordinal_position
"""


class Store(Protocol):
    """Makes databases of one kind."""

    name: str

    @property
    def process(self) -> int | None:
        """The server's first process, where there is one that may be disturbed."""

    def stop(self) -> None:
        """Have the server stop at once, without finishing anything."""

    def recover(self) -> None:
        """Wait until the database answers again."""

    def make(self, folder: Path, copied: Place | None) -> Place:
        """A place with an empty database, or a copy of another place with its database."""

    def drop(self, place: Place) -> None:
        """Take the database and its folder away."""


@dataclass(slots=True)
class DuckdbStore:
    """Files of DuckDB."""

    name: str = "duckdb"
    process: None = None

    def make(self, folder: Path, copied: Place | None) -> Place:
        """The file lies in the folder, and is copied with it."""
        _copy_folder(folder, copied)
        return Place(folder, _environment(folder, f"duckdb:///{folder / FILE}"))

    def stop(self) -> None:
        """There is no server."""
        raise NotImplementedError

    def recover(self) -> None:
        """There is no server."""

    def drop(self, place: Place) -> None:
        """Remove the folder."""
        shutil.rmtree(place.folder)


@dataclass(slots=True)
class PostgresStore:
    """Databases of a Postgres server."""

    server: PostgresServer
    own: OwnPostgres | None = None
    name: str = "postgresql"
    made: dict[Path, ExitStack] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def make(self, folder: Path, copied: Place | None) -> Place:
        """The database is new each time, from the other's as a template."""
        _copy_folder(folder, copied)
        template = None if copied is None else str(sa.make_url(find_url(copied)).database)
        stack = self.made[folder] = ExitStack()
        name = f"pinakes_faults_{os.getpid()}_{next(self.numbers)}"
        return Place(folder, _environment(folder, stack.enter_context(self.server.create(name, template))))

    @property
    def process(self) -> int | None:
        """The server's first process, where the server is ours to disturb."""
        return None if self.own is None else self.own.process

    def stop(self) -> None:
        """Have the server stop at once."""
        assert self.own is not None
        self.own.crash()

    def recover(self) -> None:
        """Wait until the server answers again; start it where it stopped."""
        self.server.engine.dispose()
        for _ in range(100):
            try:
                with self.server.engine.connect():
                    return
            except sa.exc.OperationalError:
                if self.own is not None:
                    self.own.start_again()
                time.sleep(0.1)
        raise RuntimeError("Postgres does not come back")

    def drop(self, place: Place) -> None:
        """Drop the database and remove the folder."""
        self.made.pop(place.folder).close()
        shutil.rmtree(place.folder)


def find_url(place: Place) -> str:
    """The database's URL."""
    return place.environment["PINAKES_DATABASE_URL"]


def _environment(folder: Path, url: str) -> dict[str, str]:
    return {
        "PINAKES_DATABASE_URL": url,
        "PINAKES_INDEX_FOLDER": str(folder / INDEXES),
        "XDG_DATA_HOME": str(folder / "data"),
        "OMP_NUM_THREADS": "1",
    }


def _copy_folder(folder: Path, copied: Place | None) -> None:
    if folder.exists():
        shutil.rmtree(folder)
    if copied is None:
        (folder / INDEXES).mkdir(parents=True)
    else:
        shutil.copytree(copied.folder, folder)


@contextmanager
def copied_place(store: Store, folder: Path, copied: Place | None) -> Iterator[Place]:
    """A place for one fault."""
    place = store.make(folder, copied)
    try:
        yield place
    finally:
        store.drop(place)


Content = dict[str, list[str]]
"""table or folder -> its rows or files, each as text"""


def dump(folder: Path) -> Content:
    """All rows of all tables without times, events once, and the files of the folder; of side indexes, names.

    The database is the one that the environment names.
    """
    content: Content = {}
    with connect_read_only() as database, database.read() as session:
        tables: dict[str, list[str]] = {}
        for row in session.rows(_COLUMNS):
            if not row["column_name"].endswith(_LEFT_OUT):
                tables.setdefault(row["table_name"], []).append(row["column_name"])
        for table, columns in sorted(tables.items()):
            rows = session.rows(f"SELECT {', '.join(columns)} FROM {table}")
            listed = [repr([_round(value) for value in row.values()]) for row in rows]
            content[table] = sorted(set(listed) if table in _EVENTS else listed)
    content["files"] = sorted(_list_files(folder))
    return {name: rows for name, rows in content.items() if rows}


def _round(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_round(one) for one in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def _list_files(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        name = path.relative_to(folder)
        if name.parts[0] == INDEXES:
            if path.is_dir():
                yield str(name)
        elif path.is_file() and not name.name.startswith(FILE):
            yield f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}"


def compare(found: Content, expected: Content) -> str | None:
    """What differs, in a few words; None where nothing does."""
    for name in sorted(found.keys() | expected.keys()):
        ours, theirs = found.get(name, []), expected.get(name, [])
        if ours != theirs:
            more = [row for row in ours if row not in theirs][:3]
            less = [row for row in theirs if row not in ours][:3]
            return f"{name}: {len(ours)} for {len(theirs)}; found {more}, expected {less}"[:1500]
    return None
