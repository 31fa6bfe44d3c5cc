"""A Ray cluster of several nodes on this machine, and what kills parts of it at seeded moments."""

import json
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from pinakes.indexers.side_folder import describe_file

ROOM = 80 << 20
"""bytes of a node's object store, the least that Ray takes"""


class LocalCluster:
    """A head without a core, and nodes with one each; this process is connected."""

    def __init__(self, nodes: int) -> None:
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": ROOM}
        # Soon told that a node is gone, as it is here by a broken connection at the latest.
        checks = {"health_check_period_ms": 500, "health_check_failure_threshold": 3}
        # And a worker counts as much as what else runs here: Ray has others go before.
        settings = {**checks, "worker_niceness": 0}
        self._cluster = Cluster(True, head_node_args={**head, "_system_config": settings})
        self._nodes: list[Any] = []
        for _ in range(nodes):
            self.add_node()

    @property
    def address(self) -> str:
        return str(self._cluster.address)

    def add_node(self) -> None:
        node = self._cluster.add_node(num_cpus=1, object_store_memory=ROOM)
        self._nodes.append(node)

    def kill_node(self) -> None:
        """Kill the first node as a machine goes: with all that runs on it, and without a word."""
        self._cluster.remove_node(self._nodes.pop(0), allow_graceful=False)

    def close(self) -> None:
        self._cluster.shutdown()


@contextmanager
def open_cluster(nodes: int = 2) -> Iterator[LocalCluster]:
    """A cluster, connected to."""
    import ray

    cluster = LocalCluster(nodes)
    try:
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        yield cluster
    finally:
        ray.shutdown()
        cluster.close()


def list_workers() -> list[int]:
    """The processes of workers that this process's cluster has, by their names."""
    found = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            named = folder.name.isdigit() and (folder / "cmdline").read_bytes().startswith(b"ray::Hosted")
            if named and os.getpid() in _list_parents(int(folder.name)):
                found.append(int(folder.name))
    return sorted(found)


def _list_parents(process: int) -> Iterator[int]:
    while process > 1:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
        process = int(stat.rpartition(")")[2].split()[1])
        yield process


@contextmanager
def killing(seed: int, kills: int, *, between_s: float = 0.4) -> Iterator[list[int]]:
    """While the context lasts, kill workers at moments that the seed says; gives the killed, as they die."""
    killed: list[int] = []
    stopped = threading.Event()

    def work() -> None:
        drawn = random.Random(seed)
        while len(killed) < kills and not stopped.wait(between_s * (0.5 + drawn.random())):
            if workers := list_workers():
                victim = drawn.choice(workers)
                with suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
                    killed.append(victim)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield killed
    finally:
        stopped.set()
        thread.join()


def wait_until(holds: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


class Adder:
    """A worker for tests: it adds numbers, and ends, fails or is slow where it is told to."""

    def ready(self) -> str:
        return "adder"

    def add(self, left: int, right: int) -> int:
        return left + right

    def end(self) -> None:
        os._exit(3)

    def fail(self) -> None:
        raise OSError(28, "No space left on device")

    def break_off(self) -> None:
        raise ZeroDivisionError

    def wait(self, seconds: float, value: int) -> int:
        time.sleep(seconds)
        return value


class NeverReady(Adder):
    """A worker that ends before it is ready."""

    def ready(self) -> str:
        os._exit(4)


def require_same_shards(folder: Path, expected: Path) -> None:
    """Fail unless two folders of vectors have the same files, rows, settings, and rounded vectors.

    The last bit of an fp32 vector depends on the threads and the batch on some processors.
    """
    names = sorted(path.name for path in expected.iterdir())
    assert sorted(path.name for path in folder.iterdir()) == names
    made_by, wanted_by = (json.loads((one / "manifest.json").read_text()) for one in (folder, expected))
    described = made_by.pop("files")
    assert described == {name: describe_file(folder / name) for name in described}
    assert sorted([*described, "manifest.json"]) == names
    assert wanted_by.pop("files").keys() == described.keys()
    assert made_by == wanted_by
    for name in described:
        made, wanted = pq.read_table(folder / name), pq.read_table(expected / name)
        assert made.schema.equals(wanted.schema)
        for column in ("id", "text_digest"):
            assert made[column].equals(wanted[column]), name
        found, existing = (np.stack(one["embedding"].to_numpy()) for one in (made, wanted))
        np.testing.assert_allclose(found, existing, rtol=0, atol=1e-6)
