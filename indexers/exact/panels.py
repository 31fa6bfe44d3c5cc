"""The two products of the quantised pass, AVX2 and AMX: how queries lie for each."""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.exact import amx as exact_amx
from pinakes.indexers.exact import kernel as exact_kernel
from pinakes.indexers.exact.kernel import CHUNK, TILE

Packed = tuple[NDArray[np.int8], NDArray[np.int16], NDArray[np.int32]]


class Kernel(NamedTuple):
    """What differs between the products.

    Attributes:
        panel, tile: queries and documents that are multiplied at once.
        pack: whole numbers (whole panels, whole chunks) -> the queries' bytes; what each chunk's sums begin
            with; and what is added to a query's sums in the end. Both make up for a document's byte being 128
            too large.
        load: gives the compiled product.
    """

    panel: int
    tile: int
    pack: Callable[[NDArray[np.int8]], Packed]
    load: Callable[[], Callable[..., None]]


def choose_kernel() -> Kernel:
    """The fastest product that this processor can run."""
    return AMX if exact_amx.has_amx() else AVX2


def _pack_for_avx2(whole: NDArray[np.int8]) -> Packed:
    panel, width = exact_kernel.PANEL, whole.shape[1]
    panels = whole.reshape(-1, panel, width // 4, 4).transpose(0, 2, 1, 3)
    # A lane of 16 bits gets every second pair of numbers of a chunk; their sums are whole float32 numbers.
    lane = np.arange(CHUNK)[:, None] // 2 % 2 == np.arange(2)
    lanes = whole.reshape(-1, CHUNK).astype(np.float32) @ lane.astype(np.float32)
    begins = (-128 * lanes).reshape(-1, panel, width // CHUNK, 2).transpose(0, 2, 1, 3).astype(np.int16)
    return np.ascontiguousarray(panels), np.ascontiguousarray(begins), np.zeros(len(whole), dtype=np.int32)


def _pack_for_amx(whole: NDArray[np.int8]) -> Packed:
    panel, width = exact_amx.PANEL, whole.shape[1]
    panels = whole.reshape(-1, panel, width // CHUNK, CHUNK).transpose(0, 2, 1, 3)
    ends = -128 * whole.sum(axis=1, dtype=np.int32)
    return np.ascontiguousarray(panels), np.zeros(len(panels), dtype=np.int16), ends


AVX2: Final = Kernel(exact_kernel.PANEL, TILE, _pack_for_avx2, exact_kernel.load_kernel)
AMX: Final = Kernel(exact_amx.PANEL, exact_amx.TILES * TILE, _pack_for_amx, exact_amx.load_amx_kernel)
