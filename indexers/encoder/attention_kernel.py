"""Attention within texts that lie end to end, on x86-64 processors.

torch takes each length apart and multiplies narrow heads at a fraction of the processor's rate. Here scores,
softmax and sums of a few queries stay in the nearest cache (`attention_text`). In bf16 an instruction adds
two products in float32, or with AMX those of two tiles (`attention_tiles`), and weights are rounded to bf16
before they meet the values, as torch does it. What a text gets depends neither on the other texts nor on
threads.
"""

import ctypes
import functools
import math
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from pinakes.indexers.encoder.attention_text import VECTORS, Task, count_scratch, write_attention
from pinakes.indexers.encoder.attention_tiles import LANES, WIDEST_HEAD, write_tile_attention
from pinakes.machine_code import TILE_ROWS, aligned, compile_function, has_instructions, has_tiles

_UNITS_A_THREAD: Final = 16
_SIGNATURE: Final = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def has_attention_kernel(projected: Tensor, heads: int) -> bool:
    """Whether `attend` takes these queries, keys and values here; not where they are differentiated."""
    if projected.device.type != "cpu" or projected.requires_grad or not projected.is_contiguous():
        return False
    lanes, _ = choose_shape()
    head_width, rest = divmod(projected.shape[1], 3 * heads)
    if rest or head_width % (VECTORS * lanes) or _find_threads() is None:
        return False
    if projected.dtype is torch.bfloat16:  # with AMX torch's products are the faster ones of wide heads
        return has_instructions("avx512bf16") and (head_width <= WIDEST_HEAD or not has_tiles("amx-bf16"))
    return projected.dtype is torch.float32 and has_instructions("avx2") and has_instructions("fma")


def attend(projected: Tensor, heads: int, ends: Tensor, longest: int) -> Tensor:
    """Attention: (tokens, 3 width) queries, keys and values to (tokens, width).

    `ends` (texts + 1,) int32 says where each text ends, from 0. The caller has asked `has_attention_kernel`.
    """
    width = projected.shape[1] // 3
    lanes, rows = choose_shape()
    if projected.dtype is torch.bfloat16 and has_tiles("amx-bf16"):
        lanes, rows = LANES, TILE_ROWS
        kernel = load_tile_kernel(width // heads)
    else:
        kernel = load_attention_kernel(width // heads, lanes, rows, projected.dtype is torch.bfloat16)
    attended = torch.empty(projected.shape[0], width, dtype=projected.dtype)
    units = heads * (len(ends) - 1)
    threads = min(torch.get_num_threads(), units)
    # An odd number of tiles: rows that lie a power of two apart share few places of the cache.
    room = (math.ceil(longest / (VECTORS * lanes)) | 1) * VECTORS * lanes
    scratch_size = count_scratch(width // heads, room, lanes, rows)
    scratch = aligned(scratch_size * threads, np.uint8)
    task = Task(
        units=units,
        units_at_once=max(1, units // (threads * _UNITS_A_THREAD)),
        heads=heads,
        room=room,
        scratch_size=scratch_size,
        scratch=scratch.ctypes.data,
        projected=projected.data_ptr(),
        attended=attended.data_ptr(),
        ends=ends.data_ptr(),
        scale=(width // heads) ** -0.5 / math.log(2),
    )
    if threads == 1:
        kernel(ctypes.addressof(task))
    else:
        _find_threads()(kernel, ctypes.addressof(task), threads, 0)
    return attended


@functools.cache
def load_attention_kernel(head_width: int, lanes: int, rows: int, half: bool) -> Any:
    """The compiled function of a `Task`'s address, for registers of so many float32 numbers.

    `rows` queries are taken at a time; `half` is for bf16. It holds no interpreter lock, and several threads
    may call it for one task.
    """
    text = write_attention(head_width, lanes, rows, half)
    return compile_function(text, "attend", _SIGNATURE)


@functools.cache
def load_tile_kernel(head_width: int) -> Any:
    """The same for bf16 in tile registers; `has_tiles` has to have been asked."""
    return compile_function(write_tile_attention(head_width), "attend", _SIGNATURE)


def choose_shape() -> tuple[int, int]:
    """Numbers of a register, and queries at a time: their sums fill most registers."""
    return (16, 8) if has_instructions("avx512f") else (8, 6)


@functools.cache
def _find_threads() -> Any:
    """What runs a function in the threads of torch's own products; None if it is not there.

    Threads beside these would have to share the cores with them, since they wait actively for a while.
    """
    try:
        start = ctypes.CDLL("libgomp.so.1").GOMP_parallel
    except (OSError, AttributeError):
        return None
    start.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint)
    start.restype = None
    return start
