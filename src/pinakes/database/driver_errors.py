"""The one place where the drivers' errors become ours."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import duckdb
import sqlalchemy as sa

from pinakes.errors import DatabaseBusyError, DatabaseError

_LOCK_HOLDER = re.compile(r"Conflicting lock is held in (?P<program>.+?) \(PID (?P<pid>\d+)\)")

_NO_RIGHT: Final = "42501"  # Postgres: insufficient_privilege
_FILE: Final = re.compile(r'file "([^"]+)"')
_FILE_FAULTS: Final = {
    "not a valid DuckDB database file": "is not a valid DuckDB database file, and is left as it is; choose "
    "another --db.",
    "Permission denied": "may not be opened by this user; ask for the right to write it and its folder, or "
    "choose another --db.",
    "Read-only file system": "is on a file system that cannot be written to; choose another --db.",
}
"""what DuckDB says of a file -> what is wrong with the file, behind its name"""


def driver_errors() -> tuple[type[Exception], ...]:
    """What the drivers raise, through SQLAlchemy or, where Arrow tables are moved, directly."""
    return (sa.exc.DBAPIError, duckdb.Error, *_of_psycopg("Error"))


def is_cancelled(error: BaseException | None) -> bool:
    """Whether the database ended a query before its time, as it does when that takes too long."""
    original = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    # Postgres: query_canceled, idle_in_transaction_session_timeout.
    return isinstance(original, duckdb.InterruptException) or getattr(original, "sqlstate", None) in (
        "57014",
        "25P03",
    )


def _of_psycopg(name: str) -> tuple[type[Exception], ...]:
    # Not imported here: a DuckDB file needs no psycopg, and one that is not loaded raises nothing.
    loaded = sys.modules.get("psycopg")
    return () if loaded is None else (getattr(loaded, name),)


@contextmanager
def translated() -> Iterator[None]:
    """Turn a driver's error about reaching or opening the database into a `DatabaseError`."""
    try:
        yield
    except driver_errors() as error:
        ours = explain(error)
        if ours is None:
            raise
        raise ours from error


def explain(error: Exception) -> DatabaseError | None:
    """The driver's error in words for the user, or None when it is a defect of Pinakes."""
    original = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    message = str(original)
    holder = _LOCK_HOLDER.search(message)
    if holder:
        return DatabaseBusyError(
            f"the DuckDB file is held by process {holder['pid']} ({holder['program']}); a DuckDB file has "
            "one writer at a time. Wait for it with --wait SECONDS, stop that process, or use Postgres for "
            "several writers."
        )
    if "Could not set lock on file" in message:
        return DatabaseBusyError(
            "the DuckDB file is held by another process. Wait for it with --wait SECONDS, or stop it."
        )
    if 'type "vector" does not exist' in message or 'extension "vector" is not available' in message:
        return DatabaseError(
            "this Postgres has no pgvector: install it on the server (the image pgvector/pgvector has it), "
            "then run `pinakes init` again."
        )
    if "permission denied to create extension" in message:
        return DatabaseError(
            "this Postgres user may not install pgvector; let an administrator run CREATE EXTENSION vector "
            "in this database, then run `pinakes init` again."
        )
    if getattr(original, "sqlstate", None) == _NO_RIGHT:
        return DatabaseError(
            f"this Postgres user may not do that ({message.strip().splitlines()[0]}); a reader has `pinakes "
            "sql`, `status` and `export`, and what writes needs the user who owns the tables."
        )
    for fault, told in _FILE_FAULTS.items():
        if fault in message:
            named = _FILE.search(message)
            return DatabaseError(f"{named[1] if named else 'the file'} {told}")
    unreachable: tuple[type[Exception], ...] = (
        duckdb.IOException,
        duckdb.ConnectionException,
        *_of_psycopg("OperationalError"),
    )
    if isinstance(original, unreachable):
        return DatabaseError(
            f"the database does not answer as it should: {message.strip().rstrip('.?')}. Once it does, start "
            "the same command again: what is in stays in."
        )
    return None
