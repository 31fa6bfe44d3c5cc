"""The two kernels of the quantised pass, AVX2 and AMX: how queries lie for each, how records are read."""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.exact import amx as exact_amx
from pinakes.indexers.exact import kernel as exact_kernel
from pinakes.indexers.exact.kernel import CHUNK, TILE
from pinakes.indexers.exact.scores import Rows
from pinakes.jit import jit

Doubles = NDArray[np.float64]
Packed = tuple[NDArray[np.int8], NDArray[np.integer]]


class Kernel(NamedTuple):
    """What differs between the kernels.

    Attributes:
        panel, tile: queries and documents of a record.
        record: its length in int32.
        pack: whole numbers (whole panels, whole chunks) -> the queries' bytes, and what is added to the sums
            since a document's byte is 128 too large.
        load: gives the compiled kernel.
    """

    panel: int
    tile: int
    record: int
    pack: Callable[[Doubles], Packed]
    load: Callable[[], Callable[..., None]]


def choose_kernel() -> Kernel:
    """The fastest kernel that this processor can run."""
    return AMX if exact_amx.has_amx() else AVX2


def _pack_for_avx2(whole: Doubles) -> Packed:
    panel, width = exact_kernel.PANEL, whole.shape[1]
    panels = whole.astype(np.int8).reshape(-1, panel, width // 4, 4).transpose(0, 2, 1, 3)
    pairs = whole.astype(np.int64).reshape(-1, panel, width // CHUNK, CHUNK // 4, 2, 2).sum(axis=(3, 5))
    corrections = np.ascontiguousarray((-128 * pairs).transpose(0, 2, 1, 3).astype(np.int16))
    return np.ascontiguousarray(panels), corrections


def _pack_for_amx(whole: Doubles) -> Packed:
    panel, width = exact_amx.PANEL, whole.shape[1]
    panels = whole.astype(np.int8).reshape(-1, panel, width // CHUNK, CHUNK).transpose(0, 2, 1, 3)
    corrections = (-128 * whole.astype(np.int64).sum(axis=1)).astype(np.int32).reshape(-1, panel)
    return np.ascontiguousarray(panels), corrections


AVX2: Final = Kernel(exact_kernel.PANEL, TILE, exact_kernel.RECORD, _pack_for_avx2, exact_kernel.load_kernel)
AMX: Final = Kernel(
    exact_amx.PANEL, exact_amx.TILES * TILE, exact_amx.RECORD, _pack_for_amx, exact_amx.load_amx_kernel
)


@jit
def decode(
    records: NDArray[np.int32],
    count: int,
    panel: int,
    tile: int,
    queries: int,
    documents: int,
    query: Rows,
    document: Rows,
) -> int:
    """Write the pairs that the records name, and how many they are."""
    found = 0
    words = panel * tile // 32
    for number in range(count):
        start = number * (2 + words)
        for word in range(words):
            bits = np.uint32(records[start + 2 + word])
            while bits:
                low = bits & (~bits + np.uint32(1))
                place = word * 32
                rest = low
                while rest > 1:
                    rest >>= np.uint32(1)
                    place += 1
                bits ^= low
                row = records[start] * panel + place // tile
                column = records[start + 1] * tile + place % tile
                if row < queries and column < documents:
                    query[found] = row
                    document[found] = column
                    found += 1
    return found
