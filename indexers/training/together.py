"""One training by several processes, a device each: who computes what, and sums that all of them have.

The parts of a step are shared among the processes, and each adds up all gradients before the optimiser's
step, so that the weights stay alike. What one process alone would compute differs in the rounding of sums.
"""

import multiprocessing
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Final

import torch
import torch.distributed as dist
from torch import Tensor, nn

from pinakes.errors import IndexingError, PinakesError
from pinakes.indexers.encoder.processes import end_with_parent

_GRACE_S: Final = 5.0
"""how long the other processes have to say why, when one has ended"""
_LOST: Final = 3
"""the exit code of a process that lost another one"""


class LostError(Exception):
    """Another process of the training has ended."""


@dataclass(frozen=True, slots=True)
class Ranks:
    """The processes of a training, seen from one of them; by default there is no other.

    Attributes:
        rank: the number of this one, from 0, which alone writes files and tells progress.
        size: how many there are.
        device: of this one.
    """

    rank: int = 0
    size: int = 1
    device: str = "cpu"

    def choose(self, costs: Sequence[int]) -> list[int]:
        """Which parts this process computes: the costliest first, each to whoever has the least.

        >>> [Ranks(rank, 2).choose([5, 9, 3, 2]) for rank in (0, 1)]
        [[1], [0, 2, 3]]
        """
        loads = [0] * self.size
        mine = []
        for part in sorted(range(len(costs)), key=lambda part: -costs[part]):
            least = loads.index(min(loads))
            loads[least] += costs[part]
            if least == self.rank:
                mine.append(part)
        return sorted(mine)

    def agree(self, number: int) -> int:
        """The greatest of the numbers that the processes call this with."""
        return int(self._reduce(torch.tensor([number]), dist.ReduceOp.MAX)[0])

    def add_numbers(self, numbers: Sequence[float]) -> list[float]:
        """The sums over the processes, in double precision."""
        found: list[float] = self._reduce(torch.tensor(numbers, dtype=torch.float64)).tolist()
        return found

    def add_gradients(self, parameters: Sequence[nn.Parameter]) -> None:
        """Give each parameter the sum of its gradients; one that has none in any process keeps none."""
        if self.size == 1:
            return
        held = self._reduce(
            torch.tensor([one.grad is not None for one in parameters]).int(), dist.ReduceOp.MAX
        )
        reached = [one for one, is_held in zip(parameters, held.tolist(), strict=True) if is_held]
        if not reached:
            return
        parts = [torch.zeros_like(one) if one.grad is None else one.grad for one in reached]
        total = self._reduce(torch.cat([part.flatten() for part in parts]))
        pieces: Any = torch.split(total, [part.numel() for part in parts])
        for one, part in zip(reached, pieces, strict=True):
            one.grad = part.view_as(one).clone()

    def _reduce(self, values: Tensor, how: Any = None) -> Tensor:
        if self.size == 1:
            return values
        moved = values.to(self.device)
        try:
            dist.all_reduce(moved, dist.ReduceOp.SUM if how is None else how)
        except RuntimeError as error:
            raise LostError(str(error)) from error
        return moved


def run_together(
    work: Callable[..., None], given: Sequence[Any], devices: Sequence[str], tell: Callable[..., None]
) -> None:
    """Run `work(*given, ranks, tell)` in a process for each device; what the first one tells is told here.

    Everything given travels to the processes. Raises `IndexingError` when one fails or ends; the others are
    then ended.
    """
    context = multiprocessing.get_context("spawn")  # CUDA does not survive a fork
    with tempfile.TemporaryDirectory() as folder:
        meeting = f"file://{Path(folder) / 'meeting'}"
        started: list[tuple[Any, Connection]] = []
        try:
            for rank, device in enumerate(devices):
                ours, theirs = context.Pipe(duplex=False)
                ranks = Ranks(rank, len(devices), device)
                process = context.Process(
                    target=_work, args=(work, given, ranks, meeting, theirs), daemon=True, name=device
                )
                process.start()
                theirs.close()
                started.append((process, ours))
            _follow(started, tell)
        finally:
            _end([process for process, _ in started])


def _follow(started: Sequence[tuple[Any, Connection]], tell: Callable[..., None]) -> None:
    """Pass on what is told until all are done."""
    open_ends: dict[Any, Any] = {ours: process for process, ours in started}
    lost: str | None = None
    while open_ends:
        ready: list[Any] = wait(list(open_ends), _GRACE_S if lost else None)
        if not ready:
            break
        for ours in ready:
            process = open_ends[ours]
            try:
                kind, content = ours.recv()
            except EOFError:
                del open_ends[ours]
                lost = _describe_end(process, lost)
                continue
            if kind == "failed":
                raise IndexingError(content)
            tell(*content)
    if lost is not None:
        raise IndexingError(lost)


def _describe_end(process: Any, known: str | None) -> str | None:
    """Why the training cannot go on without a process that has ended, or what is known; None: it did all."""
    process.join()
    if process.exitcode == 0 or (process.exitcode == _LOST and known):
        return known
    return (
        f"the process that trains on {process.name} ended with exit code {process.exitcode}; expected all to "
        "work to the end. The last checkpoint is kept: start again, with fewer processes where memory ran out"
    )


def _end(processes: Sequence[Any]) -> None:
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(_GRACE_S)
        if process.is_alive():
            process.kill()
            process.join()


def _work(
    work: Callable[..., None], given: Sequence[Any], ranks: Ranks, meeting: str, reports: Connection
) -> None:
    """What a process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interruption is for who started this
    threading.Thread(target=end_with_parent, daemon=True).start()
    on_cuda = ranks.device.startswith("cuda")
    if on_cuda:
        torch.cuda.set_device(ranks.device)
    dist.init_process_group(
        "nccl" if on_cuda else "gloo", init_method=meeting, rank=ranks.rank, world_size=ranks.size
    )

    def tell(*told: Any) -> None:
        if ranks.rank == 0:
            reports.send(("told", told))

    try:
        work(*given, ranks, tell)
    except PinakesError as error:
        reports.send(("failed", str(error)))
    except LostError:
        raise SystemExit(_LOST) from None
    # At once: gloo's threads abort now and then a process that is done, while it is taken down.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
