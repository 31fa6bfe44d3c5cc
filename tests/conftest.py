"""Databases for tests: a DuckDB file each, and one real Postgres server a worker."""

import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import settings

from pinakes.database import Database, connect
from pinakes.queries.install import initialise
from pinakes.schema import create_schema
from tests.postgres import PostgresServer, open_server, start_server
from tests.processes import fork_for_spawn, spawn_as_given
from tests.stores import ObjectStore, find_server, open_store
from tests.templates import Templates
from tests.turns import take_turns
from tests.warm import Warm, open_warm

_NUMBERS = count(1)
_ROOM = 8 << 30
"""bytes that are free where databases are held in memory"""
_FAST = {"fsync": "off", "full_page_writes": "off", "max_wal_size": "'256MB'", "autovacuum": "off"}
"""Settings of a server that no crash matters to.

Autovacuum would count a table's rows now and then, also while a load is at work, and finds none then: a copy
of that database keeps the count, and its plans take a hundred times as long.
"""

# The same examples on every machine; `pytest --hypothesis-profile=random` draws new ones.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("random", deadline=None)
settings.load_profile("same")


def pytest_configure() -> None:
    """Have tests make their files in memory too: each commit to a DuckDB file waits for its disk."""
    if memory := _find_memory():
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", memory)


@pytest.fixture(scope="session")
def store() -> Iterator[ObjectStore]:
    """An S3-compatible object store."""
    server = find_server()
    if server is None:
        pytest.skip("moto's server is not installed (see .ci/run)")
    with open_store(server) as opened:
        yield opened


@pytest.fixture(scope="session", autouse=True)
def _credentials() -> Iterator[None]:
    """Those of the store, before any process starts that may write to it: a node of a cluster keeps its own.

    moto stores what comes without credentials as it is sent, in chunks with their lengths.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("AWS_ACCESS_KEY_ID", "tests")
        patched.setenv("AWS_SECRET_ACCESS_KEY", "tests")
        yield


@pytest.fixture(scope="session", autouse=True)
def _warm_processes() -> Iterator[None]:
    with fork_for_spawn():
        yield


@pytest.fixture
def spawned() -> Iterator[None]:
    """Processes that share the test's work import all themselves, as a user's do."""
    with spawn_as_given():
        yield


@pytest.fixture(scope="session")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    """Starts programs in processes that have imported all."""
    with open_warm(tmp_path_factory.mktemp("warm")) as opened:
        yield opened


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to `make test-long` what tests marked `in_turn` leave to it."""
    take_turns(items)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Have the garbage collector leave alone what was made until here: hundreds of megabytes that stay.

    A tenth of the tests' time went into looking through it, and through what one test leaves for the next.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """The server that `PINAKES_TEST_POSTGRES` names, or one of this worker that no crash matters to."""
    given = os.environ.get("PINAKES_TEST_POSTGRES")
    if given:
        with open_server(given, {}) as opened:
            yield opened
        return
    with tempfile.TemporaryDirectory(prefix="pinakes-pg-", dir=_find_memory() or "/tmp") as folder:
        server = start_server(Path(folder) / "data")
        with open_server(server.get_uri(), _FAST) as opened:
            yield opened
        server.cleanup()


def _find_memory() -> str | None:
    """A folder that is held in memory and has room for the databases of all workers; None: there is none.

    A database is 600 files, which are copied for a test and deleted after it: a disk takes far longer.
    """
    folder = "/dev/shm"
    return folder if os.path.isdir(folder) and shutil.disk_usage(folder).free >= _ROOM else None


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The URL of a new, empty Postgres database, dropped after the test."""
    with postgres_server.create(_name_database()) as url:
        yield url


def _name_database() -> str:
    return f"pinakes_test_{os.getpid()}_{next(_NUMBERS)}"


@pytest.fixture
def duckdb_url(tmp_path: Path) -> str:
    """The URL of a DuckDB file that does not exist yet."""
    return f"duckdb:///{tmp_path / 'test.duckdb'}"


@pytest.fixture(params=["duckdb", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of an empty database: DuckDB, then Postgres."""
    return str(request.getfixturevalue("duckdb_url" if request.param == "duckdb" else "postgres_url"))


@pytest.fixture(scope="session")
def tables_duckdb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A DuckDB file with all tables and no rows."""
    file = tmp_path_factory.mktemp("tables") / "tables.duckdb"
    with connect(f"duckdb:///{file}") as opened:
        create_schema(opened)
    return file


@pytest.fixture(scope="session")
def tables_postgres(postgres_server: PostgresServer) -> Iterator[str]:
    """The name of a Postgres database with all tables and no rows."""
    name = f"pinakes_tables_{os.getpid()}"
    with postgres_server.create(name) as url:
        with connect(url) as opened:
            create_schema(opened)
        yield name


@pytest.fixture(scope="session")
def benchmarks_duckdb(tables_duckdb: Path) -> Path:
    """A DuckDB file with every bundled benchmark and no papers."""
    file = tables_duckdb.with_name("bundled.duckdb")
    shutil.copy(tables_duckdb, file)
    with connect(f"duckdb:///{file}") as opened:
        initialise(opened)
    return file


@pytest.fixture(scope="session")
def benchmarks_postgres(postgres_server: PostgresServer, tables_postgres: str) -> Iterator[str]:
    """The name of a Postgres database with every bundled benchmark and no papers."""
    name = f"pinakes_bundled_{os.getpid()}"
    with postgres_server.create(name, tables_postgres) as url:
        with connect(url) as opened:
            initialise(opened)
        yield name


@pytest.fixture
def duckdb_database(tables_duckdb: Path, duckdb_url: str) -> Iterator[Database]:
    """A DuckDB file with all tables and no rows."""
    with _open_copy(tables_duckdb, duckdb_url) as opened:
        yield opened


@pytest.fixture
def postgres_database(postgres_server: PostgresServer, tables_postgres: str) -> Iterator[Database]:
    """A Postgres database with all tables and no rows, dropped after the test."""
    with postgres_server.create(_name_database(), tables_postgres) as url, connect(url) as opened:
        yield opened


@pytest.fixture
def initialised_duckdb(benchmarks_duckdb: Path, duckdb_url: str) -> Iterator[Database]:
    """A DuckDB file with every bundled benchmark and no papers."""
    with _open_copy(benchmarks_duckdb, duckdb_url) as opened:
        yield opened


@pytest.fixture
def initialised_postgres(postgres_server: PostgresServer, benchmarks_postgres: str) -> Iterator[Database]:
    """A Postgres database with every bundled benchmark and no papers, dropped after the test."""
    with postgres_server.create(_name_database(), benchmarks_postgres) as url, connect(url) as opened:
        yield opened


@contextmanager
def _open_copy(file: Path, url: str) -> Iterator[Database]:
    shutil.copy(file, str(sa.make_url(url).database))
    with connect(url) as opened:
        yield opened


@pytest.fixture(params=["duckdb", "postgresql"])
def database(request: pytest.FixtureRequest) -> Database:
    """A database with all tables and no rows: DuckDB, then Postgres."""
    opened: Database = request.getfixturevalue(
        "duckdb_database" if request.param == "duckdb" else "postgres_database"
    )
    return opened


@pytest.fixture(params=["duckdb", "postgresql"])
def initialised(request: pytest.FixtureRequest) -> Database:
    """A database with every bundled benchmark and no papers: DuckDB, then Postgres."""
    opened: Database = request.getfixturevalue(
        "initialised_duckdb" if request.param == "duckdb" else "initialised_postgres"
    )
    return opened


@pytest.fixture
def both_databases(duckdb_database: Database, postgres_database: Database) -> tuple[Database, Database]:
    """DuckDB and Postgres side by side, each with all tables and no rows."""
    return duckdb_database, postgres_database


@pytest.fixture(scope="module")
def both_initialised(
    benchmarks_duckdb: Path,
    postgres_server: PostgresServer,
    benchmarks_postgres: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Database, Database]]:
    """DuckDB and Postgres side by side with every bundled benchmark, for all tests of a module."""
    url = f"duckdb:///{tmp_path_factory.mktemp('module') / 'module.duckdb'}"
    copied = postgres_server.create(_name_database(), benchmarks_postgres)
    with _open_copy(benchmarks_duckdb, url) as duck, copied as named, connect(named) as post:
        yield duck, post


@pytest.fixture(scope="module")
def templates(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Templates]:
    """Databases that the tests of a module fill once, and of which each test has a copy."""
    with ExitStack() as closing:
        yield Templates(request, tmp_path_factory.mktemp, closing)
