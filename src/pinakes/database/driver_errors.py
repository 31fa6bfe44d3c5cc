"""The one place where the drivers' errors become ours."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import duckdb
import sqlalchemy as sa

from pinakes.database.holders import describe_process
from pinakes.errors import DatabaseBusyError, DatabaseError

_LOCK_HOLDER = re.compile(r"Conflicting lock is held in (?P<program>.+?) \(PID (?P<pid>\d+)\)")

MOST_SAID: Final = 300
"""characters of what a driver says itself"""
_FILE: Final = re.compile(r'file "([^"]+)"')
_FILE_FAULTS: Final = {
    "not a valid DuckDB database file": "is not a valid DuckDB database file, and is left as it is; choose "
    "another --db.",
    "Permission denied": "may not be opened by this user; ask for the right to write it and its folder, or "
    "choose another --db.",
    "Read-only file system": "is on a file system that cannot be written to; choose another --db.",
}
"""what DuckDB says of a file -> what is wrong with the file, behind its name"""

_SAFE: Final = "What was committed before stays in."
_AGAIN: Final = "Then start the same command again."
_FULL: Final = (
    "the disk of the database is full ({}). Free some space on it, move the database, or give the command "
    f"more memory with --memory. {_AGAIN} {_SAFE}"
)
_DAMAGED: Final = (
    "the database file is damaged ({}). Keep a copy of it, and look at the disk. Go back to a backup, or "
    "load the corpora into a new database (--db). Where the file still opens, `pinakes export NAME FILE` "
    "writes out the tables that can be read."
)
_DUCKDB: Final[tuple[tuple[tuple[str, ...], str], ...]] = (
    (
        ("No space left on device", "offload data block", "max_temp_directory_size", "temp directory size"),
        _FULL,
    ),
    (("Disk quota exceeded",), f"the disk quota of this user is used up. Free some space. {_AGAIN} {_SAFE}"),
    (
        ("File too large",),
        "the database file would be larger than its file system or `ulimit -f` allows. Raise the limit, or "
        f"move the database. {_AGAIN} {_SAFE}",
    ),
    (
        ("Input/output error", "fsync failed"),
        f"the disk of the database cannot be read or written ({{}}), and may be failing. {_SAFE} Copy the "
        "file to another disk before anything else.",
    ),
    (
        ("Too many open files",),
        f"too many files are open. Raise `ulimit -n`, or lower --jobs. {_AGAIN} {_SAFE}",
    ),
    (
        (
            "Corrupt database file",
            "checksum",
            "Could not read enough bytes",
            "Failed to deserialize",
            "Failed to load metadata",
            "Failure while replaying WAL",
            "Serialization Error",
        ),
        _DAMAGED,
    ),
    (
        ("Out of Memory", "failed to pin", "could not allocate", "Cannot allocate memory", "bad_alloc"),
        "the memory that the database may take does not suffice ({}). Give it more with --memory, or "
        f"PINAKES_MEMORY, as 4GB, or lower --jobs. {_AGAIN} {_SAFE}",
    ),
    (
        ("No files found that match",),
        "files of corpora that are read in place are gone ({}). If they were exported again, `pinakes init "
        "--over FOLDER` reads those of now.",
    ),
    (
        ("Permission Error: Cannot access file",),
        "a file of corpora that are read in place is behind a link that leads out of their folder, or the "
        "folder became a link ({}). Put the files where they were, or export the corpora again.",
    ),
    (
        ("Conflict on ",),
        f"another command wrote the same rows ({{}}). Wait for it to end. {_AGAIN} {_SAFE}",
    ),
    (
        ("INTERNAL Error", "FATAL Error", "has been invalidated"),
        f"DuckDB had to stop ({{}}). {_SAFE} Start the same command again. If it stops there again, "
        "the file is damaged, or it is a defect of DuckDB: keep a copy of the file, and report this message.",
    ),
)
"""what DuckDB says -> what happened, what is safe, what helps, where {} is its own words; the first counts"""

_STORED_FILE: Final = re.compile(r"^StoredFileError: (.*)$", re.MULTILINE)
"""what `stored_files` raised, in the traceback that DuckDB makes an error of"""
_ONLY_READ: Final = re.compile(
    r"Binder Error: Can only (insert into|update|delete from|merge into) base table"
    r"|Catalog Error: \w+ is not an table"
)
_IN_PLACE: Final = (
    "the corpora of this database are files that are read in place, and cannot be changed. Take them into a "
    "database of their own (`pinakes import-corpora`), and change them there."
)

_SERVER_GONE: Final = f"Postgres went away ({{}}). {_SAFE} Once it runs again, start the same command again."
_LIMIT: Final = (
    f"Postgres stopped it: {{}}. {_SAFE} Raise the limit of this user, then start the same command again."
)
_LOCK_NOT_AVAILABLE: Final = "55P03"
_SQLSTATES: Final = {
    "08": _SERVER_GONE,
    "25006": "this Postgres cannot be written to ({}): it is a copy that only follows another server, or its "
    "user may only read. Choose the server that is written to in --db.",
    "25P": _LIMIT,
    "28": "Postgres refuses this user ({}). Look at the user and the password in --db.",
    "3D000": "Postgres has no such database ({}). Make it with createdb, or name another in --db.",
    "40": f"another command wrote the same rows ({{}}). {_SAFE} Start the same command again.",
    "42501": "this Postgres user may not do that ({}); a reader has `pinakes sql`, `status` and `export`, "
    f"and what writes needs the user who owns the tables. {_SAFE} Let the owner GRANT the right, or name "
    f"another user in --db. {_AGAIN}",
    "53100": f"the disk of the Postgres server is full ({{}}). Free some space there. {_AGAIN} {_SAFE}",
    "53200": f"the Postgres server has not enough memory ({{}}). {_SAFE} Give it more, or lower its "
    f"work_mem. {_AGAIN}",
    "53300": f"the Postgres server takes no more connections ({{}}). Close others, or raise its "
    f"max_connections. {_AGAIN}",
    "54": "Postgres cannot hold a value of this size ({}). "
    "Look for the record whose id, name or text is that long, and shorten it.",
    _LOCK_NOT_AVAILABLE: f"another command holds the rows ({{}}). Wait for it to end. {_AGAIN}",
    "57014": _LIMIT,
    "57": _SERVER_GONE,
    "58": f"the Postgres server cannot read or write its files ({{}}). {_SAFE} Look at its log and its disk.",
    "XX001": "the Postgres database is damaged ({}). Look at the server's log and disk, and take a backup.",
    "XX002": "an index of the Postgres database is damaged ({}). Look at the server's disk, then REINDEX.",
    "XX": f"Postgres met a fault of its own ({{}}). {_SAFE} Look at the server's log.",
}
"""the beginning of a SQLSTATE -> what happened, what is safe, what helps; the longest beginning counts"""


def driver_errors() -> tuple[type[Exception], ...]:
    """What the drivers raise, through SQLAlchemy or, where Arrow tables are moved, directly."""
    return (sa.exc.DBAPIError, duckdb.Error, *_of_psycopg("Error"))


def read_message(error: BaseException) -> str:
    """What an error says; where DuckDB quotes a value cut within a character, with a mark there.

    Before Python 3.11.3 such a message is lost: then the error's kind is said.
    """
    if isinstance(error, UnicodeDecodeError):
        return error.object.decode("utf-8", "replace")
    return str(error) or f"{type(error).__name__}, without a message"


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
        described = describe_process(int(holder["pid"])) or holder["program"]
        process = f"process {holder['pid']} ({described})"
        return DatabaseBusyError(
            f"the DuckDB file is held by {process}; a DuckDB file has one writer at a time. Wait for it with "
            "--wait SECONDS, stop that process, or use Postgres for several writers.",
            f"{process}, which holds the DuckDB file",
        )
    if "Could not set lock on file" in message:
        return DatabaseBusyError(
            "the DuckDB file is held by another process. Wait for it with --wait SECONDS, or stop it.",
            "another process, which holds the DuckDB file",
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
    for fault, told in _FILE_FAULTS.items():
        if fault in message:
            named = _FILE.search(message)
            return DatabaseError(f"{named[1] if named else 'the file'} {told}")
    if isinstance(original, duckdb.Error | MemoryError):
        return _explain_duckdb(original, message)
    return _explain_postgres(original, message) if isinstance(original, _of_psycopg("Error")) else None


def explain_stored_file(error: Exception) -> DatabaseError | None:
    """What a file on an object store could not be read for; None where the error is another."""
    found = _STORED_FILE.search(str(error)) if type(error) is duckdb.Error else None
    return DatabaseError(found[1]) if found else None


def _explain_duckdb(error: Exception, message: str) -> DatabaseError | None:
    """What is no fault of a statement: these hold texts of users, which may say anything."""
    if isinstance(error, duckdb.BinderException | duckdb.CatalogException) and _ONLY_READ.match(message):
        return DatabaseError(_IN_PLACE)
    if (stored := explain_stored_file(error)) is not None:
        return stored
    if isinstance(error, duckdb.IntegrityError | duckdb.DataError | duckdb.ProgrammingError):
        return None
    for fragments, told in _DUCKDB:
        if any(fragment in message for fragment in fragments):
            return DatabaseError(told.format(_shorten(message)))
    if isinstance(error, duckdb.IOException | duckdb.ConnectionException):
        return DatabaseError(
            f"the database does not answer as it should: {_shorten(message)}. {_SAFE} Look whether the file "
            "and its disk are there."
        )
    return None


def _explain_postgres(error: Exception, message: str) -> DatabaseError | None:
    state = getattr(error, "sqlstate", None) or ""
    told = next((_SQLSTATES[state[:size]] for size in (5, 3, 2) if state[:size] in _SQLSTATES), None)
    if told is not None:
        kind = DatabaseBusyError if state == _LOCK_NOT_AVAILABLE else DatabaseError
        return kind(told.format(_shorten(message)))
    if not state and isinstance(error, _of_psycopg("OperationalError")):
        return DatabaseError(
            f"Postgres cannot be reached, or went away ({_shorten(message)}). {_SAFE} Look whether the "
            "server runs and whether --db names it rightly; then start the same command again."
        )
    return None


def _shorten(message: str) -> str:
    """What a driver says, on one line, cut, without its end."""
    line = " ".join(message.split("\nPossible solutions")[0].split())
    return f"{line[:MOST_SAID]}…" if len(line) > MOST_SAID else line.rstrip(".?")
