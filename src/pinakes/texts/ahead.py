"""Rows made here, or by other processes while this one stores, and handed out in the order of the papers."""

import importlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import parent_process
from typing import Any, Final

from pinakes.errors import PinakesError

_AHEAD: Final = 2
"""batches for each process that are read and not yet stored, at most"""
_LEFT_OUT: Final = ("scipy", "sklearn")
"""packages that nltk imports where they are, for classifiers and measures that nothing here uses"""

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
        jobs,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin,
        initargs=(pickle.dumps(make),),
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
    _import_nltk()
    _made_by.append(pickle.loads(pickled))  # noqa: S301 (of our own parent)


def _import_nltk() -> None:
    """Import nltk, where it is, without what would take each of these processes more than a second.

    Only in a process that does nothing else: its nltk has no `fisher_exact` and no `SklearnClassifier`.
    """
    absent = [name for name in _LEFT_OUT if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]  # None: there is no such module
    with suppress(ImportError):
        importlib.import_module("nltk")
    for name in absent:
        del sys.modules[name]


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _compute(given: Any) -> Any:
    return _made_by[0](given)
