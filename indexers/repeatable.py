"""The same numbers again: deterministic kernels, a fixed number of threads, seeds by purpose."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils import deterministic

_MEMORY: Final[Any] = deterministic  # whose one setting its types do not know


@contextmanager
def compute_repeatably(device: str, threads: int) -> Iterator[None]:
    """torch's deterministic algorithms on so many threads; its settings and its generators are put back.

    On one machine, device, torch version and number of threads, the same seed then gives the same weights to
    the last bit. Attention is computed by the plain formula, whose gradient is deterministic on every device.
    """
    on_cuda = device.startswith("cuda")
    if on_cuda:  # cuBLAS and cuDNN's LSTM ask for it, before their first use
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    had_mode = torch.get_deterministic_debug_mode()
    had_threads, had_fill = torch.get_num_threads(), _MEMORY.fill_uninitialized_memory
    # Not `use_deterministic_algorithms`, which sets the same and imports torch's compiler: a second or two.
    torch.set_deterministic_debug_mode("error")
    _MEMORY.fill_uninitialized_memory = False  # none is read before it is written; five times faster
    torch.set_num_threads(threads)
    devices = [torch.device(device).index or 0] if on_cuda else []
    try:
        with torch.random.fork_rng(devices=devices), sdpa_kernel(SDPBackend.MATH):
            yield
    finally:
        torch.set_deterministic_debug_mode(had_mode)
        _MEMORY.fill_uninitialized_memory = had_fill
        torch.set_num_threads(had_threads)


def seed_generators(device: str, seed: int) -> None:
    """Start torch's generators: the CPU's, and those of CUDA devices where `device` is one.

    Not `torch.manual_seed`, which writes down its caller's stack for each kind of device that is not in use:
    half a millisecond and more, 350 times what the seed itself takes.
    """
    torch.default_generator.manual_seed(seed)
    if device.startswith("cuda"):
        torch.cuda.manual_seed_all(seed)


def derive_seed(seed: int, *purpose: object) -> int:
    """A seed for one purpose, such as one epoch's dropout; below 2**63.

    >>> derive_seed(1, "epoch", 1) == derive_seed(1, "epoch", 1) != derive_seed(1, "epoch", 2)
    True
    """
    digest = hashlib.sha256(repr((seed, *purpose)).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
