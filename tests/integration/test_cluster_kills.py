"""A worker, a node or the command is killed at a random moment: what is stored is what one machine stores.

`make test` runs one of the seeds, `make test-long` all of them, each on both databases.
"""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pinakes.database import connect
from pinakes.index.index import index
from pinakes.load.load import LoadRequest, load
from pinakes.run.run import RunRequest, run
from pinakes.systems.base import SystemOptions
from pinakes.workload.benchmark import find_index_folder
from tests.benching import read_hits
from tests.clusters import LocalCluster, list_workers, wait_until
from tests.loading import dump_tables, paper, write_beir

SEEDS = 20
WORKS = ("load", "encode", "exact search", "BM25")
VICTIMS = ("worker", "node", "command")
SHORT = ((6, "postgresql"),)
"""seeds of `make test`: a worker of a search"""
LATEST_S = {"load": 2.0, "encode": 4.0, "exact search": 4.0, "BM25": 2.0}
"""how long after the first worker something is killed, at most: about as long as there are workers"""
MOST_STARTS = 5
PATIENCE_S = 300
"""how long a command may take, on a machine that others use"""
PAPERS = 4_000
PROGRAM = """
import sys
from pathlib import Path
from pinakes.cluster import encoding, exact
from pinakes.database import connect
from pinakes.index.index import index
from pinakes.load.load import LoadRequest, load
from pinakes.loaders import staging
from pinakes.run.run import RunRequest, run
from pinakes.systems.base import SystemOptions
from pinakes.workload.benchmark import find_index_folder

staging.CHUNK_ROWS = staging.BULK_CHUNK_ROWS = 50
staging.TRANSACTION_ROWS = 200
encoding.WINDOW = 8
exact.share_vectors.__wrapped__.__kwdefaults__["fragment_rows"] = 10
work, url, folder, model, on = sys.argv[1:]
with connect(url) as database:
    options = SystemOptions(find_index_folder(database), precision="fp32", on=on)
    if work == "load":
        load(database, LoadRequest("beir", Path(folder), corpus="killed", on=on))
    elif work == "encode":
        index(database, "synthetic", model, options=options)
    elif work == "exact search":
        run(database, RunRequest("synthetic", model, options))
    else:
        index(database, "synthetic", "sparse_bm25", options=options)
        run(database, RunRequest("synthetic", "sparse_bm25", options))
print("done")
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    papers: list[dict[str, Any] | bytes] = [
        paper(number, text="graphs and citations " * 20) for number in range(PAPERS)
    ]
    papers[PAPERS // 2 : PAPERS // 2] = [b"no JSON", paper(7)]
    qrels = "".join(f"q1\tp{5 * number}\t1\n" for number in range(PAPERS // 4))
    return write_beir(tmp_path_factory.mktemp("corpus") / "corpus", papers, qrels)


def read_stored(url: str, work: str, model: str) -> Any:
    """What the work has stored."""
    with connect(url) as database:
        if work == "load":
            return dump_tables(database)
        with database.read() as session:
            if work == "encode":
                query = "SELECT text_digest, embedding FROM vectors_toy_fp32 ORDER BY text_digest"
                rows = session.fetch_arrow(query)
                return list(map(str, rows["text_digest"].to_pylist())), np.stack(rows["embedding"].to_numpy())
            run_id = int(session.scalar("SELECT max(run_id) FROM runs"))
            assert session.scalar("SELECT count(*) FROM runs WHERE system <> ''") == 1
        return read_hits(database, run_id)


def do_alone(url: str, work: str, corpus: Path, model: str) -> None:
    with connect(url) as database, pytest.MonkeyPatch.context() as patched:
        for name in ("CHUNK_ROWS", "BULK_CHUNK_ROWS"):
            patched.setattr(f"pinakes.loaders.staging.{name}", 50)
        options = SystemOptions(find_index_folder(database), precision="fp32")
        if work == "load":
            load(database, LoadRequest("beir", corpus, corpus="killed"))
        elif work == "BM25":
            index(database, "synthetic", "sparse_bm25", options=options)
            run(database, RunRequest("synthetic", "sparse_bm25", options))
        else:
            index(database, "synthetic", model, options=options)
            if work == "exact search":
                run(database, RunRequest("synthetic", model, options))


class Commands:
    """The command, started again until it is done."""

    def __init__(self, words: list[str], errors: Path) -> None:
        self._words, self._errors = words, errors
        self.starts = 0
        self.process = self._start()

    def _start(self) -> "subprocess.Popen[bytes]":
        self.starts += 1
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
        with self._errors.open("wb") as errors:
            return subprocess.Popen(self._words, env=environment, stderr=errors, stdout=subprocess.DEVNULL)

    def finish(self) -> None:
        """Wait, and start it again where it was killed; any other end fails."""
        while self.process.wait(timeout=PATIENCE_S) != 0:
            assert self.process.returncode == -signal.SIGKILL, self._errors.read_text()
            assert self.starts < MOST_STARTS
            self.process = self._start()


def kill(
    victim: str, delay_s: float, drawn: random.Random, commands: Commands, cluster: LocalCluster
) -> bool:
    """Kill one so long after the first worker; whether there was one still."""
    wait_until(lambda: bool(list_workers()) or commands.process.poll() is not None, PATIENCE_S)
    time.sleep(delay_s)
    while commands.process.poll() is None:
        if victim == "command":
            commands.process.kill()
        elif victim == "node":
            cluster.kill_node()
            cluster.add_node()
        elif workers := list_workers():
            with suppress(ProcessLookupError):
                os.kill(drawn.choice(workers), signal.SIGKILL)
        else:  # between two parts of the work there is none
            time.sleep(0.05)
            continue
        return True
    return False


@pytest.fixture
def url(request: pytest.FixtureRequest, database_name: str) -> str:
    kind = "duckdb" if database_name == "duckdb" else "postgres"
    return str(request.getfixturevalue(f"prepared_{kind}_url"))


def list_cases() -> list[Any]:
    """Each seed on each database, of which `make test` runs some."""
    cases = [(seed, name) for seed in range(SEEDS) for name in ("duckdb", "postgresql")]
    return [pytest.param(*case, marks=[] if case in SHORT else [pytest.mark.long]) for case in cases]


@pytest.mark.parametrize(("seed", "database_name"), list_cases())
def test_a_kill_at_a_random_moment_changes_nothing(
    cluster: LocalCluster,
    url: str,
    seed: int,
    prepared_duckdb: Path,
    corpus: Path,
    toy_folder: str,
    tmp_path: Path,
) -> None:
    work, victim = WORKS[seed % len(WORKS)], VICTIMS[seed % len(VICTIMS)]
    drawn = random.Random(seed)
    alone = tmp_path / "alone.duckdb"
    alone.write_bytes(prepared_duckdb.read_bytes())
    do_alone(f"duckdb:///{alone}", work, corpus, toy_folder)
    if work == "exact search":
        with connect(url) as database:
            options = SystemOptions(find_index_folder(database), precision="fp32")
            index(database, "synthetic", toy_folder, options=options)
    words = [sys.executable, "-c", PROGRAM, work, url, str(corpus), toy_folder, cluster.address]
    commands = Commands(words, tmp_path / "errors")
    killed = kill(victim, drawn.uniform(0, LATEST_S[work]), drawn, commands, cluster)
    commands.finish()
    found, expected = (read_stored(one, work, toy_folder) for one in (url, f"duckdb:///{alone}"))
    told = f"seed {seed}: {work}, {victim} killed: {killed}, {commands.starts} starts"
    print(told)
    if work == "encode":
        assert found[0] == expected[0], told
        np.testing.assert_allclose(found[1], expected[1], rtol=0, atol=1e-6, err_msg=told)
    else:
        assert found == expected, told
