"""Workers that end, machines that go, drivers that are killed: what is made is what was to be made."""

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pinakes.cluster import workers as cluster_workers
from pinakes.cluster.connect import connect_cluster
from pinakes.cluster.exact import share_vectors
from pinakes.cluster.workers import Call, Workers
from pinakes.errors import IndexingError
from pinakes.index.encode import EncodeOptions, encode_source
from pinakes.indexers.exact.passes import Block
from pinakes.indexers.exact.search import search_exact
from tests.clusters import Adder, LocalCluster, NeverReady, require_same_shards, wait_until
from tests.toy_encoder import WORDS

OPTIONS = EncodeOptions(precision="fp32", devices=("cpu",), shard_rows=20)
PROGRAM = """
import sys
from pathlib import Path
from pinakes.index.encode import EncodeOptions, encode_source
source, model, out, on = sys.argv[1:]
options = EncodeOptions(precision="fp32", devices=("cpu",), shard_rows=20, on=on)
print(encode_source(Path(source), model, Path(out), options).encoded)
"""


@contextmanager
def open_workers(cluster: LocalCluster, kind: type) -> Iterator[Workers]:
    with connect_cluster(cluster.address) as connected, Workers(connected, kind) as workers:
        yield workers


def test_calls_come_back_with_what_they_gave(cluster: LocalCluster) -> None:
    with open_workers(cluster, Adder) as workers:
        assert workers.describe() == "adder"
        calls = [Call(number, "add", (number, 1)) for number in range(50)]
        assert {call.key: found for call, found in workers.map(calls)} == {one: one + 1 for one in range(50)}
        slow = (Call(None, "wait", (0.2 if number % 7 == 0 else 0.0, number)) for number in range(40))
        assert list(workers.map_in_order(slow)) == list(range(40))
        assert list(workers.map([])) == []


def test_what_is_left_early_comes_out_of_nothing_else(cluster: LocalCluster) -> None:
    with open_workers(cluster, Adder) as workers:
        for _ in workers.map(Call(number, "add", (number, 1)) for number in range(9)):
            break
        assert [found for _, found in workers.map([Call(None, "add", (1, 1))])] == [2]


def test_workers_have_the_memory_that_is_asked_for_or_are_refused(cluster: LocalCluster) -> None:
    import ray

    with open_workers(cluster, Adder) as workers:
        workers.reserve(2e9)
        assert [found for _, found in workers.map([Call(None, "add", (1, 1))])] == [2]
        before = ray.available_resources()["memory"]
        workers.reserve(1e9)  # those that are there have more
        workers.reserve(3e9)
        calls = (Call(None, "add", (number, 1)) for number in range(9))
        assert list(workers.map_in_order(calls)) == [*range(1, 10)]
        wait_until(lambda: ray.available_resources()["memory"] < before)
        workers.reserve(1e15)
        with pytest.raises(IndexingError, match=r"needs 1000000\.\d GB, and no machine of the cluster"):
            list(workers.map([Call(None, "add", (1, 1))]))


def test_a_call_that_ends_its_workers_is_an_error_in_the_end(cluster: LocalCluster) -> None:
    calls = [Call(None, "end", ()), *(Call(None, "add", (number, 1)) for number in range(5))]
    with (
        open_workers(cluster, Adder) as workers,
        pytest.raises(IndexingError, match=r"5 workers ended over the same call \(end\)"),
    ):
        list(workers.map(calls))


def test_workers_that_end_before_they_are_ready_are_an_error(cluster: LocalCluster) -> None:
    with (
        open_workers(cluster, NeverReady) as workers,
        pytest.raises(IndexingError, match="end before they are ready"),
    ):
        workers.describe()


def test_what_a_worker_is_refused_is_told_and_what_is_our_fault_is_not_hidden(cluster: LocalCluster) -> None:
    with open_workers(cluster, Adder) as workers:
        with pytest.raises(IndexingError, match=r"a worker of the cluster: .*No space left on device"):
            list(workers.map([Call(None, "fail", ())]))
        with pytest.raises(ZeroDivisionError):
            list(workers.map([Call(None, "break_off", ())]))


def test_a_worker_of_another_version_is_refused(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_workers, "VERSION", "0.0.9")
    with open_workers(cluster, Adder) as workers, pytest.raises(IndexingError, match=r"this is 0\.0\.9"):
        workers.describe()


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    drawn = random.Random(11)
    texts = [" ".join(drawn.choices(WORDS, k=drawn.randint(1, 9))) for _ in range(1_200)]
    path = tmp_path_factory.mktemp("source") / "texts.parquet"
    pq.write_table(pa.table({"id": range(len(texts)), "text": texts}), path)
    return path


@pytest.fixture(scope="module")
def alone(source: Path, toy_folder: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("alone") / "out"
    encode_source(source, toy_folder, folder, OPTIONS)
    return folder


def count_texts(source: Path) -> int:
    return len(set(pq.read_table(source)["text"].to_pylist()))


def list_vectors(folder: Path) -> Iterator[Path]:
    yield from folder.glob("shard-*.parquet")
    yield from folder.glob(".replaced-*")


def count_shards(folder: Path) -> int:
    return len(list(folder.glob("shard-*")))


@pytest.mark.long  # a load's driver is killed in `make test`
def test_a_driver_that_is_killed_goes_on(
    cluster: LocalCluster, source: Path, toy_folder: str, alone: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    words = [sys.executable, "-c", PROGRAM, str(source), toy_folder, str(out), cluster.address]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(words, env=environment, stderr=subprocess.DEVNULL) as process:
        wait_until(lambda: count_shards(out) > 3 or process.poll() is not None)
        process.send_signal(signal.SIGKILL)
    assert 3 < count_shards(out) < count_shards(alone)
    there = {text for path in list_vectors(out) for text in pq.read_table(path)["text_digest"].to_pylist()}
    (out / f".shard-00099.parquet.{'0' * 32}.writing").write_bytes(b"half written")
    again = subprocess.run(words, env=environment, check=True, capture_output=True, timeout=100)
    assert int(again.stdout.split()[-1]) == count_texts(source) - len(there)
    require_same_shards(out, alone)


@pytest.mark.long  # as is a node of a load
def test_a_machine_that_goes_changes_nothing(
    cluster: LocalCluster, source: Path, toy_folder: str, alone: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"

    def kill() -> None:
        wait_until(lambda: count_shards(out) > 3)
        cluster.kill_node()

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        summary = encode_source(source, toy_folder, out, replace(OPTIONS, on=cluster.address))
    finally:
        killer.join()
        cluster.add_node()
    assert summary.encoded == count_texts(source)
    require_same_shards(out, alone)


@pytest.mark.long
def test_a_search_outlives_a_machine(cluster: LocalCluster, tmp_path: Path) -> None:
    drawn = np.random.default_rng(4)
    documents = drawn.standard_normal((6_000, 32)).astype(np.float32)
    queries = drawn.standard_normal((30, 32)).astype(np.float32)
    ties = drawn.permutation(len(documents))

    def read() -> Iterator[Block]:
        for start in range(0, len(documents), 100):
            if start == 3_000:
                cluster.kill_node()
            yield Block(np.arange(start, start + 100), documents[start : start + 100])

    try:
        with share_vectors(cluster.address, tmp_path / "set", read(), ties, fragment_rows=100) as shared:
            rows, scores = shared.search(queries, 50, "cosine")
    finally:
        cluster.add_node()
    expected, exact = search_exact(queries, documents, 50, "cosine", ties)
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_array_equal(scores.view(np.uint32), exact.view(np.uint32))
