"""Indexes and encodings that are killed again and again end as if nothing had happened."""

import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from pinakes.database import connect
from pinakes.load.load import LoadRequest, load
from tests.long import long
from tests.postgres import PostgresServer
from tests.toy_encoder import build_toy_encoder

PAPERS = 400
KILLS = 4
LEXICAL = ("bm25", "sparse_bm25", "tfidf", "word2vec")
SEED = 5

# Says when all is imported, then forks for each line a process that runs a command, and says its id and how
# it ended: so no time is spent on imports, again and again.
PROGRAM = """
import json, os, sys

import duckdb_engine, psycopg, tantivy, sklearn.feature_extraction.text, faiss, gensim.models
from transformers import AutoModel, AutoTokenizer, BertModel, BertTokenizer
import pinakes.systems.dense, pinakes.systems.bm25, pinakes.systems.tfidf, pinakes.systems.sparse
import pinakes.systems.word2vec, pinakes.systems.sentences.system, pinakes.index.index
from pinakes.cli import main

print("ready", flush=True)
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.argv = ["pinakes", *json.loads(line)]
        main()
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Commands:
    """Processes of `pinakes`, one at a time."""

    def __init__(self, folder: Path) -> None:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "PINAKES_INDEX_FOLDER": str(folder),
            "OMP_NUM_THREADS": "1",
        }
        self._errors = folder / "errors"
        with self._errors.open("wb") as errors:
            self._server = subprocess.Popen(
                [sys.executable, "-c", PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                bufsize=0,
                env=environment,
            )
        assert self._read() == b"ready", self.errors

    @property
    def errors(self) -> str:
        return self._errors.read_text(errors="replace")

    def start(self, arguments: Sequence[str]) -> int:
        """Start a command; the id of its process."""
        assert self._server.stdin is not None
        self._server.stdin.write(f"{json.dumps(list(arguments))}\n".encode())
        return int(self._read())

    def wait(self, timeout_s: float = 120.0) -> int | None:
        """The command's exit code; None when it has not ended in that time."""
        assert self._server.stdout is not None
        ready, _, _ = select.select([self._server.stdout], [], [], timeout_s)
        return int(self._read()) if ready else None

    def run(self, arguments: Sequence[str]) -> None:
        """Run a command to its end, which must be a good one."""
        self.start(arguments)
        assert self.wait() == 0, self.errors

    def close(self) -> None:
        """Let the server end."""
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait()
        assert self._server.stdout is not None
        self._server.stdout.close()

    def _read(self) -> bytes:
        assert self._server.stdout is not None
        return self._server.stdout.readline().strip()


@pytest.fixture
def commands(tmp_path: Path) -> Iterator[Commands]:
    """A server of commands whose side indexes lie in a folder of this test."""
    (tmp_path / "indexes").mkdir()
    server = Commands(tmp_path / "indexes")
    yield server
    server.close()


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


@pytest.mark.parametrize("system", [*(long(name) for name in LEXICAL), "toy"])
def test_an_index_that_was_killed_ends_like_an_undisturbed_one(
    commands: Commands, new_database: Callable[[], str], tmp_path: Path, system: str
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
    for _ in range(KILLS):
        process = commands.start(["index", *shared, disturbed])
        if commands.wait(generator.uniform(0.05, 0.8) * elapsed_s) is None:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            killed += commands.wait() == -signal.SIGKILL
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
