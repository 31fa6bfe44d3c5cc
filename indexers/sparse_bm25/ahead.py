"""Work done in threads, given back in its order."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Given = TypeVar("Given")
Done = TypeVar("Done")


def map_ahead(function: Callable[[Given], Done], items: Iterable[Given], threads: int) -> Iterator[Done]:
    """`function` of each item, in their order; a few items are read ahead of what is asked for.

    The items are read by the caller's thread.

    >>> list(map_ahead(abs, [-1, 2, -3], threads=2))
    [1, 2, 3]
    """
    waiting: list[Future[Done]] = []
    with ThreadPoolExecutor(threads) as pool:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > 2 * threads:
                yield waiting.pop(0).result()
        while waiting:
            yield waiting.pop(0).result()
