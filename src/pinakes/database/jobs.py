"""Jobs that a database has done one at a time, whatever else is read and written meanwhile.

On Postgres a job holds a lock of the table that it fills, in a mode that is no hindrance to reading and
writing it; a role that may only read cannot take it. On DuckDB it is a kernel's lock of a file beside the
database. Both go with their process, however that ends.
"""

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import sqlalchemy as sa

from pinakes.database.address import check_file, find_file
from pinakes.database.core import Database
from pinakes.database.driver_errors import driver_errors, translated
from pinakes.database.holders import describe_self
from pinakes.database.sessions import find_holder
from pinakes.database.waiting import Waiting
from pinakes.errors import DatabaseBusyError, DatabaseError
from pinakes.faults import explain_fault

JOBS: Final = {"evaluate": "scores"}
"""a job -> the table that it fills"""

_HINT: Final = "there is one at a time for each database. Wait for it with --wait SECONDS, or stop it."
_NOTE_BYTES: Final = 4_096

# Postgres: longer than its deadlock_timeout, after which a vacuum of its own stops.
_PATIENCE: Final = "1500ms"
_NEVER_ENDED: Final = """
SELECT set_config(name, '0', TRUE)
FROM pg_catalog.pg_settings
WHERE name IN ('idle_in_transaction_session_timeout', 'transaction_timeout', 'statement_timeout')
"""


@contextmanager
def hold_file(url: sa.URL, job: str, waiting: Waiting) -> Iterator[None]:
    """The job, done for a DuckDB file by this process alone; nothing for Postgres.

    Raises:
        DatabaseBusyError: another process does it; the message says which.
        DatabaseError: there is no such database, or no lock file can be made beside it.
    """
    database = find_file(url)
    if database is None:
        yield
        return
    check_file(database, must_exist=True)
    path = name_lock(database, job)
    handle = waiting.until_free(lambda: _lock_file(path, job, _choose_mode(database)))
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)


def name_lock(database: Path, job: str) -> Path:
    """The lock file of a job, beside the file that the path, or a link of that name, leads to."""
    file = database.resolve()
    return file.with_name(f"{file.name}.{job}.lock")


def _choose_mode(database: Path) -> int:
    """Who may write the database may take the lock, and nobody else."""
    writers = database.stat().st_mode & 0o222
    return 0o600 | writers | writers << 1


def _lock_file(path: Path, job: str, mode: int) -> int:
    """The file, open and locked, with a note of this process in it."""
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
        except OSError as error:
            raise DatabaseError(
                f"{job} needs a lock file beside the database: {explain_fault(error) or error.strerror}"
            ) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(handle, path):  # and was not taken away by the one before
                with suppress(PermissionError):  # it is another user's
                    os.fchmod(handle, mode)
                os.ftruncate(handle, 0)
                os.pwrite(handle, describe_self().encode()[:_NOTE_BYTES], 0)
                return handle
        except BlockingIOError as error:
            holder = os.pread(handle, _NOTE_BYTES, 0).decode("utf-8", "replace") or "another process"
            os.close(handle)
            raise _say_busy(job, holder) from error
        except OSError as error:
            os.close(handle)
            raise DatabaseError(
                f"{job} needs a lock file beside the database: {explain_fault(error) or error.strerror}"
            ) from error
        os.close(handle)


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        return False


@contextmanager
def hold_table(database: Database, job: str, waiting: Waiting) -> Iterator[None]:
    """The job, done for a Postgres database by this process alone; nothing for DuckDB.

    Raises:
        DatabaseBusyError: another process does it; the message says which.
        DatabaseError: this user may only read.
    """
    if database.name != "postgresql":
        yield
        return
    connection = waiting.until_free(lambda: _lock_table(database, job))
    try:
        yield
    finally:
        with suppress(*driver_errors()):  # a server that is gone holds no lock
            connection.close()


def _lock_table(database: Database, job: str) -> sa.Connection:
    """A connection with a transaction that holds the lock, and whose last statement says for whom."""
    connection = database.connect()
    try:
        with translated():
            if connection.execute(sa.text("SELECT TO_REGCLASS(:name)"), {"name": JOBS[job]}).scalar() is None:
                return connection  # without tables: the command says so itself
            connection.execute(sa.text(_NEVER_ENDED))
            connection.execute(sa.text(f"SET LOCAL lock_timeout = '{_PATIENCE}'"))
            connection.execute(sa.text(f"LOCK TABLE {JOBS[job]} IN SHARE UPDATE EXCLUSIVE MODE"))
            note = re.sub(r"['\\%]", " ", describe_self())
            connection.exec_driver_sql(f"SELECT '{note}' AS job")
    except DatabaseBusyError as error:
        connection.rollback()
        holder = find_holder(connection, JOBS[job])
        connection.close()
        raise _say_busy(job, holder) from error
    except BaseException:
        connection.close()
        raise
    return connection


def _say_busy(job: str, holder: str) -> DatabaseBusyError:
    return DatabaseBusyError(
        f"`pinakes {job}` is being done by {holder}; {_HINT}", f"{holder}, which does `pinakes {job}`"
    )
