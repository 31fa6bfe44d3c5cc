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

_NO_MEMORY: Final = ("failed to pin block", "could not allocate block", "Out of Memory")
_NO_DISK: Final = ("No space left on device", "max_temp_directory_size", "failed to offload data block")

_FILE: Final = re.compile(r'file "([^"]+)"')
_FILE_FAULTS: Final = {
    "not a valid DuckDB database file": "is not a valid DuckDB database file, and is left as it is; choose "
    "another --db.",
    "Permission denied": "may not be opened by this user; ask for the right to write it and its folder, or "
    "choose another --db.",
    "Read-only file system": "is on a file system that cannot be written to; choose another --db.",
}
"""what DuckDB says of a file -> what is wrong with the file, behind its name"""


_OF_DUCKDB: Final = (duckdb.Error, MemoryError)


def driver_errors() -> tuple[type[Exception], ...]:
    """What the drivers raise, through SQLAlchemy or, where Arrow tables are moved, directly."""
    return (sa.exc.DBAPIError, duckdb.Error, *_of_psycopg("Error"))


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
    if any(fault in message for fault in _NO_DISK):
        return DatabaseError(
            "there is no room left on the disk for the database, or for what it puts beside its file "
            f"while it works: {_shorten(message)}. Make room there, or give the command more memory with "
            "--memory; then start it again: what is in stays in."
        )
    if isinstance(original, _OF_DUCKDB) and any(fault in message for fault in _NO_MEMORY):
        return DatabaseError(
            "the memory that the database may take does not suffice; expected a larger --memory, "
            f"or PINAKES_MEMORY, as 4GB: {_shorten(message)}. Start the command again with "
            "it: what is in stays in."
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


def _shorten(message: str) -> str:
    """The first sentence of what a driver says."""
    return message.strip().split("\n")[0].rstrip(".")[:300]
