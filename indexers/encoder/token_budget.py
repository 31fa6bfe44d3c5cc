"""How many tokens a batch may hold, halved when memory runs out."""

from collections.abc import Callable

import torch

from pinakes.errors import IndexingError

_CPU_ALLOCATOR = ("DefaultCPUAllocator", "can't allocate memory", "not enough memory")


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
