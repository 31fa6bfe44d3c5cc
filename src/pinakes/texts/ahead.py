"""Rows made here, or by other processes while this one stores, and handed out in the order of the papers."""

import os
import pickle
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from typing import Any, Final

from pinakes.errors import PinakesError

_AHEAD: Final = 2
"""batches for each process that are read and not yet stored, at most"""

_made_by: list[Callable[[Any], Any]] = []  # of a process that makes rows: what makes them


def compute_ahead(
    make: Callable[[Any], Any], inputs: Iterator[Any], jobs: int
) -> Generator[tuple[Any, Any], None, None]:
    """Each input with what `make` makes of it, in their order.

    With more than one job, so many processes make them; they end with this one, however it ends.
    Raises `PinakesError` where one of them was killed.
    """
    if jobs < 2:
        for given in inputs:
            yield given, make(given)
        return
    # Pickled here: what `make` imports is imported only when the process can be interrupted without a word.
    pool = ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_begin, initargs=(pickle.dumps(make),)
    )
    waiting: deque[tuple[Any, Future[Any]]] = deque()
    try:
        for given in inputs:
            waiting.append((given, pool.submit(_compute, given)))
            if len(waiting) > _AHEAD * jobs:
                yield _take(waiting)
        while waiting:
            yield _take(waiting)
    except BrokenProcessPool as error:
        raise PinakesError(
            "a process that makes rows was killed, perhaps for want of memory. Start the same command again "
            "with fewer --jobs; what is in stays."
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _take(waiting: deque[tuple[Any, Future[Any]]]) -> tuple[Any, Any]:
    given, made = waiting.popleft()
    return given, made.result()


def _begin(pickled: bytes) -> None:
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # which nohup and background jobs pass on
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C reaches all processes: these say nothing
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _made_by.append(pickle.loads(pickled))  # noqa: S301 (of our own parent)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _compute(given: Any) -> Any:
    return _made_by[0](given)
