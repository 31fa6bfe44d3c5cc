"""Writes what is computed while the next of it is computed."""

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Batch = TypeVar("Batch")


def write_behind(batches: Iterable[Batch], write: Callable[[Batch], object], depth: int = 4) -> None:
    """Call `write` with every batch in order, in another thread; at most `depth` batches wait.

    An error of `write` is raised here, at the next batch at the latest, and nothing behind the batch that
    failed is written. An error of `batches` is raised once what came before is written.

    >>> written = []
    >>> write_behind(iter([1, 2, 3]), written.append)
    >>> written
    [1, 2, 3]
    """
    waiting: deque[Future[object]] = deque()
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="write-behind") as writer:
        try:
            for batch in batches:
                while waiting and (len(waiting) >= depth or waiting[0].done()):
                    waiting.popleft().result()
                waiting.append(writer.submit(_write_after, waiting[-1] if waiting else None, write, batch))
        finally:
            for future in waiting:
                future.result()


def _write_after(before: Future[object] | None, write: Callable[[Batch], object], batch: Batch) -> None:
    if before is None or before.exception() is None:
        write(batch)
        return
    before.result()
