"""A Ray cluster by its address: what it has room for, workers on it. Ray is imported when one is named."""

import os
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Literal

from pinakes.errors import IndexingError, InputError, PinakesError, show
from pinakes.progress import say_nothing

ADDRESSES: Final = "ray://HOST:PORT, HOST:PORT, auto, or local"
ANSWER_S: Final = 10.0
"""how long an address has to answer"""
_NAMED: Final = re.compile(r"(ray://)?(\[[0-9a-fA-F:]+\]|[A-Za-z0-9._-]+):[0-9]{1,5}")

Device = Literal["cpu", "cuda"]


def require_address(given: str) -> str:
    """The address of a cluster as it was given; `InputError` where it cannot be one.

    >>> require_address("ray://head.example:10001")
    'ray://head.example:10001'
    """
    if given in {"auto", "local"} or _NAMED.fullmatch(given):
        return given
    raise InputError(f"the cluster {show(given)}: expected {ADDRESSES}.")


class Cluster:
    """A cluster that this process is connected to, made by `connect_cluster`.

    Attributes:
        device: what its workers compute on: `cuda` where it has GPUs, unless the user said `cpu`.
        tell: takes a line for the user.
    """

    def __init__(self, ray: Any, device: Device, tell: Callable[[str], None]) -> None:
        self._ray = ray
        self.device = device
        self.tell = tell

    def count_places(self, memory: int = 0) -> int:
        """How many workers its machines have room for now: one a GPU, or one a core, each with its memory.

        Raises:
            IndexingError: there are machines for workers, and none of them has so many bytes for one.
        """
        kind = "GPU" if self.device == "cuda" else "CPU"
        held = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        sizes = [(int(node.get(kind, 0)), node.get("memory", 0.0)) for node in held]
        able = [(count, size) for count, size in sizes if count]
        places = sum(min(count, int(size // memory)) if memory else count for count, size in able)
        if able and not places:
            largest = max(size for _, size in able)
            raise IndexingError(
                f"a worker needs {memory / 1e9:.1f} GB, and no machine of the cluster has more than "
                f"{largest / 1e9:.1f} GB for workers. Start Ray with more (`ray start --memory`), on larger "
                "machines, or ask fewer queries at once."
            )
        return places

    def start(self, kind: type, *settings: object, memory: int = 0) -> Any:
        """A handle of a new worker of that kind; Ray starts it where there is room.

        `memory` are the bytes that Ray sets aside for it on its machine: an account of Ray's, no limit of the
        system's.
        """
        gpus = 1 if self.device == "cuda" else 0
        asked: dict[str, Any] = {"num_cpus": 1, "num_gpus": gpus, "max_restarts": 0, "max_task_retries": 0}
        if memory:
            asked["memory"] = memory
        # One that ends is replaced by `Workers`, which knows what it had in hand.
        return self._ray.remote(**asked)(kind).remote(*settings)


@contextmanager
def connect_cluster(
    on: str, device: str | None = None, tell: Callable[[str], None] = say_nothing
) -> Iterator[Cluster]:
    """The cluster at an address (`ADDRESSES`) while the context lasts; `local`: this machine's cores.

    A connection that this process has already is used, whatever the address, and left open. `device` is that
    of every worker; None: `cuda` where the cluster has GPUs.

    Raises:
        InputError: no such address, or another device than `cpu` or `cuda`.
        PinakesError: the cluster cannot be reached, or has another version of Ray or Python.
    """
    require_address(on)
    if device not in {None, "cpu", "cuda"}:
        raise InputError(f"the device {show(str(device))}: expected cpu or cuda, for all workers.")
    import ray

    own = not ray.is_initialized()
    if own:
        _initialise(ray, on)
    try:
        has_gpus = ray.cluster_resources().get("GPU", 0) >= 1
        if device == "cuda" and not has_gpus:
            raise InputError("the cluster has no GPU; leave --device out, or name cpu.")
        yield Cluster(ray, "cuda" if has_gpus and device != "cpu" else "cpu", tell)
    finally:
        if own:
            ray.shutdown()


def _initialise(ray: Any, on: str) -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "error")
    require_answer(on)
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if on == "local":
        quiet["include_dashboard"] = False
    try:
        ray.init(address=on, **quiet)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise _unreachable(on, error) from error


def require_answer(on: str) -> None:
    """Raise `PinakesError` where nothing answers at the address: Ray itself would try for minutes."""
    if on in {"auto", "local"}:
        return
    host, _, port = on.removeprefix("ray://").rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER_S):
            pass
    except (OSError, OverflowError) as error:
        raise _unreachable(on, error) from error


def _unreachable(on: str, error: BaseException) -> PinakesError:
    reason = str(error).strip().splitlines() or [type(error).__name__]
    return PinakesError(
        f"the cluster {on} cannot be reached ({reason[0]}); expected a Ray cluster with the same versions of "
        "Ray and Python. Start it, or leave --on out."
    )
