"""Calls shared among the workers of a cluster; a worker that ends, or a machine that goes, loses nothing.

A call depends on its arguments alone, and may be made twice. Ray restarts nothing here: a worker that ends
gives its calls back to the front of the queue, and another is asked for wherever there is room.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any, Final, Protocol

from pinakes.cluster.connect import Cluster
from pinakes.errors import IndexingError, PinakesError
from pinakes.version import VERSION

CALLS_AHEAD: Final = 2
"""calls that a worker has at once: one that it makes, one that waits"""
MOST_ATTEMPTS: Final = 5
"""workers that may end over one call, or before they are ready, one after another"""
MOST_KEPT: Final = 8
"""results that wait for an earlier one, for each worker"""
MEMORY_STEP: Final = 1 << 28
"""bytes of which a worker has a multiple, so that a little more to do replaces none"""
POLL_S: Final = 1.0
LOOK_AROUND_S: Final = 5.0
"""how often it is asked whether the cluster has room for more workers"""
WAITED_S: Final = 60.0
"""how often it is said that there is no worker"""


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """What a worker is to do: a method's name, and its arguments, values or what `Workers.share` gave.

    `key` is for who asked.
    """

    key: Any
    method: str
    arguments: tuple[Any, ...]


class Worker(Protocol):
    """What runs on a machine of the cluster. Its methods are called by `answer`."""

    def ready(self) -> Any:
        """Load what it needs; what it says of it is the same for all workers of a kind."""


@dataclass(frozen=True, slots=True)
class Failed:
    """An error of a worker's, in words: exceptions themselves may not survive the way."""

    message: str


class Hosted:
    """A worker as Ray holds it: it says its version, and answers calls."""

    def __init__(self, kind: type, settings: tuple[Any, ...]) -> None:
        self._kind, self._settings = kind, settings
        self._worker: Any = None

    def ready(self) -> Any:
        """The version of the code, and what the worker says of itself."""
        # Made here and not when the actor is, so that what goes wrong is told in words.
        return VERSION, self._tell(lambda: self._make().ready())

    def answer(self, method: str, *arguments: Any) -> Any:
        """What the worker's method gives, or `Failed`."""
        return self._tell(lambda: getattr(self._worker, method)(*arguments))

    def _make(self) -> Any:
        self._worker = self._kind(*self._settings)
        return self._worker

    @staticmethod
    def _tell(work: Any) -> Any:
        try:
            return work()
        except (PinakesError, OSError, MemoryError) as error:
            return Failed(str(error) or type(error).__name__)


@dataclass(slots=True, eq=False)
class _Hand:
    """A worker's handle, and the calls that it has, the one that it makes first."""

    actor: Any
    calls: deque[Any] = field(default_factory=deque)


class Workers:
    """Workers of one kind on a cluster, as a context manager; at most `most`, each with `memory` bytes.

    Raises:
        IndexingError: a worker failed, or ended again and again over one call, or finds no room.
    """

    def __init__(
        self, cluster: Cluster, kind: type, *settings: object, most: int | None = None, memory: float = 0
    ) -> None:
        self._cluster, self._kind, self._settings, self._most = cluster, kind, settings, most
        self._memory = _round_up(memory)
        self._up: list[_Hand] = []
        self._starting: dict[Any, _Hand] = {}
        self._made: dict[Any, tuple[Call, _Hand]] = {}
        self._again: deque[Call] = deque()
        self._attempts: dict[int, int] = {}
        self._ended_early = 0
        self._looked_s = self._told_s = float("-inf")
        self._ready: Any = None
        self._stopped = False

    def __enter__(self) -> "Workers":
        self._told_s = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        self._end_all()

    def _end_all(self) -> None:
        import ray

        for hand in (*self._up, *self._starting.values()):
            ray.kill(hand.actor)
        self._up.clear()
        self._starting.clear()

    def reserve(self, memory: float) -> None:
        """Have workers of so many bytes at least from now on; smaller ones are replaced. Not within `map`."""
        if ceil(memory) > self._memory:
            self._memory = _round_up(memory)
            self._end_all()
            self._looked_s = float("-inf")

    def stop(self) -> None:
        """Have `map` of another thread end soon, without what is still to be done."""
        self._stopped = True

    def describe(self) -> Any:
        """What `Worker.ready` gives: waits for the first worker."""
        while not self._up:
            self._look_around()
            self._wait(POLL_S)
        return self._ready

    @staticmethod
    def share(value: object) -> Any:
        """A value that goes to each machine once, as an argument of any number of calls."""
        import ray

        return ray.put(value)

    def map_in_order(self, calls: Iterable[Call]) -> Iterator[Any]:
        """What each call gave, in the order of the calls; few are kept that wait for one before them."""
        kept: dict[int, Any] = {}
        given = 0
        numbered = (replace(call, key=number) for number, call in enumerate(calls))
        for call, found in self.map(numbered, lambda: len(kept) < MOST_KEPT * max(1, len(self._up))):
            kept[call.key] = found
            while given in kept:
                yield kept.pop(given)
                given += 1

    def map(
        self, calls: Iterable[Call], goes_on: Callable[[], bool] = lambda: True
    ) -> Iterator[tuple[Call, Any]]:
        """Each call with what it gave, as they are done; a call is taken when a worker has room for it.

        None is taken while `goes_on` says no.
        """
        waiting, exhausted = iter(calls), False
        try:
            while not self._stopped:
                self._look_around()
                hand = self._find_room()
                more = not exhausted and goes_on()
                if hand is not None and (self._again or more):
                    call = self._again.popleft() if self._again else next(waiting, None)
                    if call is None:
                        exhausted = True
                    else:
                        self._give(hand, call)
                if exhausted and not self._made and not self._again:
                    return
                has_more = self._find_room() is not None and (self._again or more)
                yield from self._wait(0.0 if has_more else POLL_S)
        finally:
            # Of one that is left early, nothing comes out of the next.
            self._made.clear()
            self._again.clear()
            for hand in self._up:
                hand.calls.clear()

    def _find_room(self) -> _Hand | None:
        hand = min(self._up, key=lambda one: len(one.calls), default=None)
        return hand if hand is not None and len(hand.calls) < CALLS_AHEAD else None

    def _give(self, hand: _Hand, call: Call) -> None:
        reference = hand.actor.answer.remote(call.method, *call.arguments)
        hand.calls.append(reference)
        self._made[reference] = call, hand

    def _wait(self, timeout_s: float) -> list[tuple[Call, Any]]:
        """What is done by now."""
        import ray

        asked = [*self._made, *self._starting]
        if not asked:
            time.sleep(timeout_s)
            return []
        done, _ = ray.wait(asked, num_returns=1, timeout=timeout_s)
        found = []
        for reference in done:
            if reference in self._starting:
                self._welcome(reference)
            elif reference in self._made:
                call, hand = self._made[reference]
                gave, lost = _fetch(reference)
                if lost is not None:
                    self._lose(hand, lost)
                    continue
                del self._made[reference]
                hand.calls.remove(reference)
                self._attempts.pop(id(call), None)
                found.append((call, _require(gave)))
        return found

    def _welcome(self, reference: Any) -> None:
        """Take in a worker that is ready, or failed to be."""
        hand = self._starting.pop(reference)
        gave, lost = _fetch(reference)
        if lost is not None:
            self._ended_early += 1
            self._looked_s = float("-inf")
            if self._ended_early >= MOST_ATTEMPTS:
                raise IndexingError(f"workers end before they are ready: {lost}")
            return
        version, ready = gave
        if version != VERSION:
            raise IndexingError(
                f"a worker has Pinakes {version}, this is {VERSION}; install the same on all machines"
            )
        self._ended_early = 0
        self._ready = _require(ready)
        self._up.append(hand)

    def _lose(self, hand: _Hand, reason: str) -> None:
        """Take the calls of a worker that ended back."""
        self._up.remove(hand)
        calls = [self._made.pop(reference)[0] for reference in hand.calls]
        self._again.extendleft(reversed(calls))
        self._looked_s = float("-inf")
        attempts = self._attempts[id(calls[0])] = self._attempts.get(id(calls[0]), 0) + 1
        if attempts >= MOST_ATTEMPTS:
            raise IndexingError(
                f"{attempts} workers ended over the same call ({calls[0].method}), the last: {reason} "
                "Give workers more memory, and start again: what is stored is not made again"
            )

    def _look_around(self) -> None:
        """Ask for as many workers as there is room for; say where there is none for long."""
        now = time.monotonic()
        if self._up:
            self._told_s = now
        elif now - self._told_s > WAITED_S:
            self._told_s = now
            self._cluster.tell("pinakes: the cluster has no room for a worker yet; waiting.")
        if now - self._looked_s < LOOK_AROUND_S:
            return
        self._looked_s = now
        wanted = self._cluster.count_places(self._memory)
        if self._most is not None:
            wanted = min(wanted, self._most)
        for _ in range(wanted - len(self._up) - len(self._starting)):
            # Ray has it use one core, as it reserves: it sets OMP_NUM_THREADS, which torch and numba go by.
            actor = self._cluster.start(Hosted, self._kind, self._settings, memory=self._memory)
            self._starting[actor.ready.remote()] = _Hand(actor)


def _round_up(memory: float) -> int:
    return ceil(memory / MEMORY_STEP) * MEMORY_STEP


def _fetch(reference: Any) -> tuple[Any, str | None]:
    """What a call gave; or None, and why its worker is lost."""
    import ray

    try:
        return ray.get(reference), None
    except ray.exceptions.RayTaskError:
        raise  # a fault of ours: the worker is there
    except ray.exceptions.RayError as error:
        return None, str(error).strip().splitlines()[0]


def _require(gave: Any) -> Any:
    if isinstance(gave, Failed):
        raise IndexingError(f"a worker of the cluster: {gave.message}")
    return gave
