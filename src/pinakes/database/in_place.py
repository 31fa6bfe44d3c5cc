"""What a reader of a DuckDB file may read besides it: the folders of its views over files, and nothing else.

A view that reads files in place names its folder in its comment, a path or an address on an object store; in
databases of before, the view `corpora` alone does, and names the whole folder. DuckDB follows no link in such
a folder that leads out of it; a folder that became a link itself is not allowed. DuckDB would let a reader
write there, by COPY, and over its own file: so what a user asks is always checked to be a query first, and to
name no file (`duckdb_questions`).
"""

import os
import threading
from collections.abc import Iterable
from typing import Any, Final

from pinakes.database.core import Database, Session
from pinakes.database.sql_blocks import quote_text

IN_PLACE: Final = "Read in place from "
"""begins the comment of a view over files; then comes the folder that has them"""
_COMMENTS: Final = (
    "SELECT DISTINCT comment FROM duckdb_views() "
    "WHERE schema_name = CURRENT_SCHEMA() AND comment IS NOT NULL ORDER BY comment"
)
_CONNECTING: Final = threading.Lock()


def list_folders(database: Database) -> list[str]:
    """The folders whose files the views of a DuckDB file read; none of other databases."""
    if database.name != "duckdb":
        return []
    with database.read() as session:
        return _read_folders(row["comment"] for row in session.rows(_COMMENTS))


def restrict(connection: Any, _record: object) -> None:
    """Have a new connection of DuckDB read no files but those in these folders, and keep its settings.

    All connections of a process to one file share settings, and are opened with the same ones: this is done
    once, by the first of them, while the others wait.
    """
    raw = connection.cursor()
    with _CONNECTING:
        raw.execute("SELECT current_setting('lock_configuration')")
        if raw.fetchone()[0]:
            return
        folders = [folder for folder in _read_comments(raw) if _is_stored(folder) or _is_no_link(folder)]
        if any(map(_is_stored, folders)):
            _read_stores(connection)
        named = [quote_text(name_source(folder)) for folder in folders]
        allowed = f"SET allowed_directories = [{', '.join(named)}]; " if named else ""
        raw.execute(f"{allowed}SET enable_external_access = false; SET lock_configuration = true")


def prepare(connection: Any) -> None:
    """Have a new connection of DuckDB, which may write, read object stores where views of its file do."""
    raw = connection.cursor()
    with _CONNECTING:
        if any(map(_is_stored, _read_comments(raw))):
            _read_stores(connection)


def read_stores(session: Session) -> None:
    """Have the DuckDB of a transaction read object stores, before the views that do are made."""
    with _CONNECTING:
        _read_stores(session.connection.connection.driver_connection)


def name_source(folder: str) -> str:
    """What begins DuckDB's names of the files in a folder, or on an address."""
    if not _is_stored(folder):
        return f"{folder}/"
    from pinakes.database.stored_files import name_folder  # late: it imports fsspec, and that asyncio

    return name_folder(folder)


def _is_stored(folder: str) -> bool:
    from pinakes.writing.folders import is_address  # late: it imports Arrow's file systems

    return is_address(folder)


def _is_no_link(folder: str) -> bool:
    return os.path.realpath(folder) == folder


def _read_stores(connection: Any) -> None:
    from pinakes.database.stored_files import PROTOCOL, StoredFiles

    if PROTOCOL not in connection.list_filesystems():
        connection.register_filesystem(StoredFiles())


def _read_comments(raw: Any) -> list[str]:
    raw.execute(_COMMENTS)
    return _read_folders(comment for (comment,) in raw.fetchall())


def _read_folders(comments: Iterable[str]) -> list[str]:
    return [comment.removeprefix(IN_PLACE) for comment in comments if comment.startswith(IN_PLACE)]
