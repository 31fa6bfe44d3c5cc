"""Indexes and encodings that are killed again and again end as if nothing had happened."""

import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from pinakes.database import connect
from pinakes.load.load import LoadRequest, load
from tests.postgres import PostgresServer
from tests.toy_encoder import build_toy_encoder
from tests.warm import Started, Warm

pytestmark = pytest.mark.in_turn

PAPERS = 400
LEXICAL = ("bm25", "sparse_bm25", "tfidf", "word2vec")
SEED = 5

PROGRAM = """
import os, sys
from pinakes.cli import main

os.environ["PINAKES_INDEX_FOLDER"] = sys.argv[1]
sys.argv[:2] = ["pinakes"]
main()
"""


class Commands:
    """Processes of `pinakes` whose side indexes lie in a folder."""

    def __init__(self, warm: Warm, indexes: Path) -> None:
        self._warm = warm
        self._indexes = indexes

    def start(self, arguments: Sequence[str]) -> Started:
        """Start a command."""
        return self._warm.start(PROGRAM, self._indexes, *arguments)

    def run(self, arguments: Sequence[str]) -> None:
        """Run a command to its end, which must be a good one."""
        ended = self.start(arguments).wait()
        assert ended is not None
        assert ended.code == 0, ended.err


@pytest.fixture
def commands(warm: Warm, tmp_path: Path) -> Commands:
    """Commands whose side indexes lie in a folder of this test."""
    return Commands(warm, tmp_path / "indexes")


@pytest.fixture(scope="module", params=["duckdb", "postgresql"])
def new_database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], str]]:
    """Gives the URL of a database with a small synthetic world each time: DuckDB, then Postgres."""
    names = (f"pinakes_index_kill_{os.getpid()}_{number}" for number in count(1))
    folder = tmp_path_factory.mktemp("index_kill")
    with ExitStack() as made:

        def copy_file(template: Path) -> str:
            return f"duckdb:///{shutil.copy(template, folder / f'{next(names)}.duckdb')}"

        def copy_database(template: str) -> str:
            server: PostgresServer = request.getfixturevalue("postgres_server")
            return made.enter_context(server.create(next(names), template))

        if request.param == "duckdb":
            url = copy_file(request.getfixturevalue("benchmarks_duckdb"))
            create = partial(copy_file, Path(url.removeprefix("duckdb:///")))
        else:
            url = copy_database(request.getfixturevalue("benchmarks_postgres"))
            create = partial(copy_database, str(sa.make_url(url).database))
        with connect(url) as database:
            load(database, LoadRequest("synthetic", options={"papers": str(PAPERS), "seed": "2"}))
        yield create


def read_hits(url: str) -> list[tuple[Any, ...]]:
    with connect(url) as database, database.read() as session:
        rows = session.fetch_arrow(
            "SELECT hits.query_id, hits.rank, papers.source_id, hits.score FROM hits "
            "JOIN papers ON papers.paper_id = hits.paper_id ORDER BY hits.query_id, hits.rank"
        )
    return list(zip(*(column.to_pylist() for column in rows.columns), strict=True))


@pytest.mark.parametrize(
    ("system", "kills"),
    [("toy", 2), *(pytest.param(name, 4, marks=pytest.mark.long) for name in (*LEXICAL, "toy"))],
)
def test_an_index_that_was_killed_ends_like_an_undisturbed_one(
    commands: Commands, new_database: Callable[[], str], tmp_path: Path, system: str, kills: int
) -> None:
    name = str(build_toy_encoder(tmp_path / "toy")) if system == "toy" else system
    encoder = ("--precision", "fp32", "--device", "cpu") if system == "toy" else ()
    shared = ("synthetic", "--system", name, *encoder, "--quiet", "--db")
    undisturbed, disturbed = new_database(), new_database()
    started = time.monotonic()
    commands.run(["index", *shared, undisturbed])
    elapsed_s = time.monotonic() - started
    commands.run(["run", *shared, undisturbed])
    generator = random.Random(f"{SEED} {system}")
    killed = 0
    for _ in range(kills):
        process = commands.start(["index", *shared, disturbed])
        if process.wait(generator.uniform(0.05, 0.8) * elapsed_s) is None:
            process.kill()
            ended = process.wait()
            assert ended is not None
            killed += ended.code == -signal.SIGKILL
    commands.run(["index", *shared, disturbed])
    assert killed >= 1
    commands.run(["run", *shared, disturbed])
    expected, found = read_hits(undisturbed), read_hits(disturbed)
    assert len(expected) > PAPERS
    scores, expected_scores = (np.array([hit[-1] for hit in hits]) for hits in (found, expected))
    # Which texts share a batch changes an encoder's last bits, and the order of what is that close.
    np.testing.assert_allclose(scores, expected_scores, atol=1e-5 if system == "toy" else 0)
    if system != "toy":
        assert found == expected
    left = [path for path in (tmp_path / "indexes").rglob(".*building") if any(path.iterdir())]
    assert left == []
