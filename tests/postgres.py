"""Databases on a Postgres server, made for a test and dropped after it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

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
