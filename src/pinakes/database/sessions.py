"""Sessions of a Postgres server: what ours are called, which one holds a table, and waiting for it."""

import os
import re
import socket
import sys
import time
from collections.abc import Callable
from typing import Final

import sqlalchemy as sa

from pinakes.database.driver_errors import translated
from pinakes.database.holders import name_command
from pinakes.database.waiting import TELL_S

# Longer than Postgres' deadlock_timeout, after which a vacuum of its own stops.
_PATIENCE_S: Final = 1.5
_NAME_BYTES: Final = 63
_NOT_AVAILABLE: Final = "55P03"
_WRITERS: Final = "schema_version"

# Every writing transaction holds a lock that no reader may take, since it needs a right to change the table.
# Before there are tables it is an advisory lock ("PINA"), which anybody may hold.
_LOCK_WRITERS: Final = """
DO $$
DECLARE
    own TEXT := CURRENT_SETTING('lock_timeout');
BEGIN
    IF own = '0' THEN
        PERFORM SET_CONFIG('lock_timeout', '{patience_ms}ms', TRUE);
    END IF;
    BEGIN
        LOCK TABLE schema_version IN SHARE ROW EXCLUSIVE MODE;
    EXCEPTION
        WHEN undefined_table THEN
            PERFORM pg_advisory_xact_lock(1346981441);
            BEGIN  -- the one before may have made it
                LOCK TABLE schema_version IN SHARE ROW EXCLUSIVE MODE;
            EXCEPTION
                WHEN undefined_table THEN NULL;
            END;
    END;
    PERFORM SET_CONFIG('lock_timeout', own, TRUE);
END
$$
"""
_FIND_HOLDER: Final = """
SELECT activity.pid, activity.usename, activity.application_name, activity.query
FROM pg_catalog.pg_locks AS held
INNER JOIN pg_catalog.pg_stat_activity AS activity ON held.pid = activity.pid
INNER JOIN pg_catalog.pg_database AS of ON held.database = of.oid
WHERE
    of.datname = CURRENT_DATABASE()
    AND (held.relation = TO_REGCLASS(:name) OR (held.locktype = 'advisory' AND held.objid = 1346981441))
    AND held.granted
    AND held.mode NOT IN ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock')
    AND held.pid <> PG_BACKEND_PID()
ORDER BY activity.query LIKE 'SELECT ''process %' DESC, activity.xact_start
LIMIT 1
"""
_SAID: Final = re.compile(r"SELECT '(.*)' AS job", re.DOTALL)
_NAMED: Final = re.compile(r"process [0-9]+ on .*", re.DOTALL)


def name_session() -> str:
    """What a session of this process is called in the server's list: as much of it as that has room for."""
    named = f"process {os.getpid()} on {socket.gethostname()}: {name_command(sys.argv)}"
    return named.encode()[:_NAME_BYTES].decode("utf-8", "ignore")


def find_holder(connection: sa.Connection, table: str) -> str:
    """Who holds a lock of the table that keeps writers out, in words."""
    with translated():
        row = connection.execute(sa.text(_FIND_HOLDER), {"name": table}).mappings().first()
    if row is None:
        return "another process"
    if said := _SAID.fullmatch(row["query"] or ""):
        return said[1]
    if _NAMED.fullmatch(row["application_name"] or ""):
        return str(row["application_name"])
    return f"session {row['pid']} of the Postgres user {row['usename']}"


def lock_writers(connection: sa.Connection, tell: Callable[[str], None]) -> None:
    """Wait for other writers of Pinakes in this transaction, and keep them out until its end.

    `tell` takes a line that says who is waited for: after a moment, then every `TELL_S` seconds. A user's own
    `lock_timeout` ends the waiting, as everywhere.
    """
    started, patience_s = time.monotonic(), _PATIENCE_S
    while True:
        try:
            with connection.begin_nested():
                connection.execute(sa.text(_LOCK_WRITERS.format(patience_ms=round(1000 * patience_s))))
        except sa.exc.DBAPIError as error:
            if getattr(error.orig, "sqlstate", "") != _NOT_AVAILABLE or _has_own_limit(connection):
                raise
            waited_s, patience_s = time.monotonic() - started, TELL_S
            tell(
                f"waiting for {find_holder(connection, _WRITERS)}, which writes to this database; "
                f"{waited_s:.0f} seconds have passed"
            )
        else:
            return


def _has_own_limit(connection: sa.Connection) -> bool:
    return connection.execute(sa.text("SELECT CURRENT_SETTING('lock_timeout')")).scalar() != "0"
