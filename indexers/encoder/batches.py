"""Batches of texts: how many tokens fit into one, what comes out of it, and how it is written.

What is encoded is written behind what is computed next, many batches at a time.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from pinakes.errors import IndexingError

Key = TypeVar("Key")
Batch = TypeVar("Batch")

_CPU_ALLOCATOR = ("DefaultCPUAllocator", "can't allocate memory", "not enough memory")


@dataclass(frozen=True, slots=True, eq=False)
class EncodedBatch(Generic[Key]):
    """The vectors of some texts: `vectors` is (n, dimensions) float32, row i is that of `keys[i]`.

    `tokens` counts the texts' tokens after truncation, special tokens included, padding not.
    """

    keys: tuple[Key, ...]
    vectors: NDArray[np.float32]
    tokens: int


class TokenBudget:
    """A number of tokens that shrinks for good."""

    def __init__(self, tokens: int, on_halved: Callable[[int], None] | None = None) -> None:
        self.tokens = tokens
        self._on_halved = on_halved

    def halve(self, texts: int, longest: int, digest: str) -> None:
        """Halve the budget after a batch of `texts` did not fit; IndexingError if it was one alone."""
        if texts == 1:
            raise IndexingError(
                f"memory ran out for one text of {longest} tokens alone (digest {digest}); expected room for "
                "one. Free memory, or encode with fewer tokens a text (max_tokens) or on another device"
            )
        # Of what the batch held, not of what it might have held: else nothing might change.
        self.tokens = max(1, min(self.tokens, texts * longest) // 2)
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        if self._on_halved is not None:
            self._on_halved(self.tokens)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether the error says that memory ran out: on a CUDA device, or in the CPU's allocator.

    >>> is_out_of_memory(torch.OutOfMemoryError("CUDA out of memory.")), is_out_of_memory(RuntimeError("no"))
    (True, False)
    """
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in _CPU_ALLOCATOR)


def plan_batches(lengths: Sequence[int], token_budget: int) -> list[list[int]]:
    """The rows of each batch: longest first, as many as `rows * longest <= token_budget` allows.

    >>> plan_batches([2, 9, 3, 3], token_budget=9)
    [[1], [2, 3, 0]]
    """
    waiting = sort_rows(lengths)
    batches: list[list[int]] = []
    while waiting:
        fitting = count_fitting(lengths[waiting[0]], token_budget)
        batches.append(waiting[:fitting])
        waiting = waiting[fitting:]
    return batches


def sort_rows(lengths: Sequence[int]) -> list[int]:
    """The rows, longest first, the earlier row first among rows of one length.

    >>> sort_rows([2, 9, 2])
    [1, 0, 2]
    """
    return sorted(range(len(lengths)), key=lambda row: (-lengths[row], row))


def count_fitting(longest: int, token_budget: int) -> int:
    """How many texts of at most `longest` tokens a batch takes: at least one."""
    return max(1, token_budget // max(1, longest))


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
