"""From a URL to a `Database`: which backend, how it is opened, how long to wait for its holder."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from pinakes.database.core import Database
from pinakes.database.driver_errors import explain
from pinakes.database.duckdb_backend import DuckdbBackend
from pinakes.errors import DatabaseBusyError, DatabaseError
from pinakes.settings import read_settings

_POLL_S = 0.2
STORAGE_VERSION: Final = "v1.2.0"
"""of a DuckDB file that is made: that and every later DuckDB opens it

The oldest that compresses long texts: by v1.1.0 a file of full texts is up to twice as large, by the newest
at most a fifth smaller. A file that exists keeps the version that it has.
"""
_READ_WRITE: Final = {
    "config": {
        # The size of the log at which it is folded into the file: each time, every index is written again.
        "checkpoint_threshold": "1GB",
        "storage_compatibility_version": STORAGE_VERSION,
    }
}
_READ_ONLY: Final = {
    "read_only": True,
    "config": {"enable_external_access": "false", "lock_configuration": "true"},
}


def connect(
    url: str | sa.URL | None = None, *, wait_s: float = 0.0, sleep: Callable[[float], None] = time.sleep
) -> Database:
    """The database at a SQLAlchemy URL, open for reading and writing.

    Args:
        url: as `duckdb:///file.duckdb` or `postgresql://user@host/name`; None: `PINAKES_DATABASE_URL`, or
            `duckdb:///pinakes.duckdb`.
        wait_s: how many seconds to wait while another process holds the DuckDB file.
        sleep: what waits, in seconds.

    Raises:
        DatabaseBusyError: another process holds the DuckDB file; the message names it.
        DatabaseError: the URL is of another kind, or nothing answers there.
    """
    return _open(_parse(url), wait_s=wait_s, sleep=sleep, read_only=False)


def connect_read_only(
    url: str | sa.URL | None = None, *, wait_s: float = 0.0, sleep: Callable[[float], None] = time.sleep
) -> Database:
    """The database, opened so that nothing can be written: neither to it nor, from DuckDB, to any file.

    Errors are those of `connect`; a DuckDB file that does not exist is not made.
    """
    return _open(_parse(url), wait_s=wait_s, sleep=sleep, read_only=True)


def _parse(url: str | sa.URL | None) -> sa.URL:
    given = url or read_settings().database_url
    try:
        parsed = sa.make_url(given)
    except sa.exc.ArgumentError as error:
        raise DatabaseError(
            f"{given!r} is not a database URL; expected duckdb:///FILE or postgresql://USER@HOST/NAME."
        ) from error
    kind = parsed.get_backend_name()
    if kind == "duckdb":
        return parsed
    if kind in ("postgresql", "postgres"):
        return parsed.set(drivername="postgresql+psycopg")
    raise DatabaseError(
        f"Pinakes keeps its tables in DuckDB or Postgres, not in {kind!r}; expected a URL as "
        "duckdb:///FILE or postgresql://USER@HOST/NAME."
    )


def _open(url: sa.URL, *, wait_s: float, sleep: Callable[[float], None], read_only: bool) -> Database:
    database = _make(url, read_only=read_only)
    waited_s = 0.0
    while True:
        try:
            with database.engine.connect():
                return database
        except sa.exc.DBAPIError as error:
            ours = explain(error)
            if isinstance(ours, DatabaseBusyError) and waited_s < wait_s:
                sleep(_POLL_S)
                waited_s += _POLL_S
                continue
            database.close()
            if ours is None:
                raise
            raise ours from error


def _make(url: sa.URL, *, read_only: bool) -> Database:
    if url.get_backend_name() == "duckdb":
        _check_duckdb_file(url, must_exist=read_only)
        backend = DuckdbBackend()
        engine = sa.create_engine(url, connect_args=_READ_ONLY if read_only else _READ_WRITE)
        if not read_only:
            sa.event.listen(engine, "connect", _hide_progress_bar)
        return Database(engine, backend)
    from pinakes.database.postgres_backend import PostgresBackend  # late: a DuckDB file needs no psycopg

    options: dict[str, Any] = {"execution_options": {"postgresql_readonly": True}} if read_only else {}
    return Database(sa.create_engine(url, **options), PostgresBackend())


def _hide_progress_bar(connection: Any, _record: Any) -> None:
    # Else a program without a file, as in `python -c`, finds DuckDB's progress bar in its standard output.
    connection.execute("SET enable_progress_bar = false")


def _check_duckdb_file(url: sa.URL, *, must_exist: bool) -> None:
    if url.database in (None, "", ":memory:"):
        return
    file = Path(str(url.database))
    if not file.parent.is_dir():
        raise DatabaseError(f"the folder {file.parent} does not exist; make it, or choose another --db.")
    if must_exist and not file.exists():
        raise DatabaseError(
            f"there is no database file {file}; make one with `pinakes init` or choose another --db."
        )
