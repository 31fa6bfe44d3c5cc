"""How long a transaction that changes tables waits for others on Postgres, and for whom it waited."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from pinakes.database.core import Database, Session
from pinakes.errors import DatabaseBusyError, DatabaseError

LEAST_WAIT_S: Final = 10.0
_NOT_AVAILABLE: Final = "55P03"
_OTHERS: Final = """
SELECT DISTINCT locks.pid AS process, activity.usename AS role
FROM pg_locks AS locks
INNER JOIN pg_class AS held ON locks.relation = held.oid
INNER JOIN pg_stat_activity AS activity ON locks.pid = activity.pid
WHERE
    locks.database = (SELECT oid FROM pg_database WHERE datname = CURRENT_DATABASE())
    AND held.relnamespace NOT IN (CAST('pg_catalog' AS regnamespace), CAST('pg_toast' AS regnamespace))
    AND locks.pid <> pg_backend_pid()
    AND locks.granted
ORDER BY process
"""


def limit_lock_wait(session: Session, wait_s: float) -> None:
    """Have the rest of this transaction wait at most so long for each lock, and at least 10 seconds.

    Those who come after a waiting lock of a table wait behind it, so it must not wait for ever. Nothing on
    DuckDB.
    """
    if session.backend.name == "postgresql":
        wait_ms = round(1000 * max(wait_s, LEAST_WAIT_S))
        session.execute("SELECT set_config('lock_timeout', :wait, TRUE)", {"wait": f"{wait_ms}ms"})


@contextmanager
def explain_lock(database: Database) -> Iterator[None]:
    """Say who holds the tables, where a transaction within did not get its lock.

    Raises:
        DatabaseBusyError: it did.
    """
    try:
        yield
    except DatabaseError as error:
        if getattr(getattr(error.__cause__, "orig", None), "sqlstate", "") != _NOT_AVAILABLE:
            raise
        with database.read() as session:
            others = [f"process {row['process']} of {row['role']}" for row in session.rows(_OTHERS)]
        raise DatabaseBusyError(
            f"others are at work in this database: {', '.join(others) or 'who has just ended'}. Nothing was "
            "changed. Let them end, or wait longer with --wait SECONDS; then start the same command again."
        ) from error
