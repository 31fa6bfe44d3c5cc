"""Threads that stay for the next call: new ones begin on one core, and part later than a short task takes."""

import functools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

R = TypeVar("R")


def run_in_threads(
    tasks: Sequence[Callable[[], R]], threads: int, prepare: Callable[[], object] | None = None
) -> list[R]:
    """Run the tasks in so many threads, wait for all, and give what each gives, in their order.

    What one raises is raised here. `prepare` is called in each thread before its first task: a function of a
    module, since the threads are kept by it. Trap: a task that waits for tasks of its own may wait for ever.

    >>> run_in_threads([lambda: 1, lambda: 2], 2)
    [1, 2]
    """
    workers = _find_workers(threads, prepare)
    started = [workers.submit(task) for task in tasks]
    try:
        return [one.result() for one in started]
    finally:
        for one in started:
            one.cancel()
        wait(started)


@functools.cache
def _find_workers(threads: int, prepare: Callable[[], object] | None) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, "pinakes", prepare)


os.register_at_fork(after_in_child=_find_workers.cache_clear)  # a child has none of the threads
