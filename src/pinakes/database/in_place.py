"""What a reader of a DuckDB file may read besides it: the folders of its views over files, and nothing else.

A view that reads files in place names its folder in its comment; in databases of before, the view `corpora`
alone does, and names the whole folder. DuckDB follows no link in such a folder that leads out of it; a folder
that became a link itself is not allowed. DuckDB would let a reader write there, by COPY, and over its own
file: so what a user asks is always checked to be a query first, and to name no file (`duckdb_questions`).
"""

import os
import threading
from collections.abc import Iterable
from typing import Any, Final

from pinakes.database.core import Database
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
        raw.execute(_COMMENTS)
        named = _read_folders(comment for (comment,) in raw.fetchall())
        folders = [folder for folder in named if os.path.realpath(folder) == folder]
        allowed = f"SET allowed_directories = [{', '.join(map(quote_text, folders))}]; " if folders else ""
        raw.execute(f"{allowed}SET enable_external_access = false; SET lock_configuration = true")


def _read_folders(comments: Iterable[str]) -> list[str]:
    return [comment.removeprefix(IN_PLACE) for comment in comments if comment.startswith(IN_PLACE)]
