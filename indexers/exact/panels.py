"""The products of the quantised pass: how bytes lie for each, and how it is called.

Our own products are for AVX2 and AMX. Where a processor has AVX-512's instructions for bytes (VNNI), the
library's is taken: `torch._int_mm`, which is oneDNN's, of matrices by row.
"""

import functools
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.exact import amx as exact_amx
from pinakes.indexers.exact import kernel as exact_kernel
from pinakes.indexers.exact.kernel import CHUNK, TILE
from pinakes.machine_code import aligned, has_instructions, has_tiles

Sums = NDArray[np.int32]
TiledQueries = tuple[NDArray[np.int8], NDArray[np.int16]]


class Kernel(NamedTuple):
    """What differs between the products.

    Attributes:
        panel, tile: queries and documents that are multiplied at once; a part of either begins with one.
        interleaved: documents whose bytes lie beside each other, four of each.
        offset: what is added to each number of a document.
        largest, lane: what a number of a query, and the length of its lane of 32 numbers, may be.
        pack: whole numbers (whole panels, whole chunks) -> the queries as `multiply` takes them.
        multiply: queries, bytes of documents, the queries' part, the first document and the end -> sums
            (q, d), without what `ends` adds.
    """

    panel: int
    tile: int
    interleaved: int
    offset: int
    largest: float
    lane: float
    pack: Callable[[NDArray[np.int8]], Any]
    multiply: Callable[[Any, NDArray[np.uint8], slice, int, int], Sums]

    def ends(self, whole: NDArray[np.int8]) -> Sums:
        """What a query's sums (q,) lack: the offset times its numbers, unless the product begins with it."""
        if not self.offset or self.lane < np.inf:
            return np.zeros(len(whole), dtype=np.int32)
        lacking: Sums = -self.offset * whole.sum(axis=1, dtype=np.int32)
        return lacking


def choose_kernel() -> Kernel:
    """The fastest product that this processor can run."""
    if has_tiles("amx-int8"):
        return AMX
    return VNNI if has_vnni() else AVX2


@functools.cache
def has_vnni() -> bool:
    """Whether the library multiplies bytes by AVX-512's instructions for them."""
    import torch  # late: who only names a distance waits for no torch

    return has_instructions("avx512vnni") and bool(torch._C._has_mkldnn)


def _pack_for_avx2(whole: NDArray[np.int8]) -> TiledQueries:
    panel, width = exact_kernel.PANEL, whole.shape[1]
    panels = whole.reshape(-1, panel, width // 4, 4).transpose(0, 2, 1, 3)
    # A lane of 16 bits gets every second pair of numbers of a chunk; their sums are whole float32 numbers.
    lane = np.arange(CHUNK)[:, None] // 2 % 2 == np.arange(2)
    lanes = whole.reshape(-1, CHUNK).astype(np.float32) @ lane.astype(np.float32)
    begins = (-128 * lanes).reshape(-1, panel, width // CHUNK, 2).transpose(0, 2, 1, 3).astype(np.int16)
    return np.ascontiguousarray(panels), np.ascontiguousarray(begins)


def _pack_for_amx(whole: NDArray[np.int8]) -> TiledQueries:
    panel, width = exact_amx.PANEL, whole.shape[1]
    panels = whole.reshape(-1, panel, width // CHUNK, CHUNK).transpose(0, 2, 1, 3)
    return np.ascontiguousarray(panels), np.zeros(len(panels), dtype=np.int16)


def _multiply_tiles(
    kernel: Kernel,
    load: Callable[[], Callable[..., None]],
    queries: TiledQueries,
    documents: NDArray[np.uint8],
    part: slice,
    first: int,
    stop: int,
) -> Sums:
    panels, begins = queries
    chunks, panel = panels[0].size // kernel.panel // CHUNK, part.start // kernel.panel
    count = -(-(part.stop - part.start) // kernel.panel)
    tiles = -(-(stop - first) // kernel.tile)
    # A power of two would put the same column of all rows in one set of the caches.
    stride = -(-tiles * kernel.tile // 32) * 32 + 16
    sums = aligned(count * kernel.panel * stride, np.int32)
    arrays = (documents[first * chunks * CHUNK :], panels[panel:], begins[panel:], sums)
    load()(*[array.ctypes.data for array in arrays], chunks, count, tiles, stride)
    return sums.reshape(-1, stride)[: part.stop - part.start]


def _multiply_for_avx2(
    queries: TiledQueries, documents: NDArray[np.uint8], part: slice, first: int, stop: int
) -> Sums:
    return _multiply_tiles(AVX2, exact_kernel.load_kernel, queries, documents, part, first, stop)


def _multiply_for_amx(
    queries: TiledQueries, documents: NDArray[np.uint8], part: slice, first: int, stop: int
) -> Sums:
    return _multiply_tiles(AMX, exact_amx.load_amx_kernel, queries, documents, part, first, stop)


def _multiply_by_library(
    queries: NDArray[np.int8], documents: NDArray[np.uint8], part: slice, first: int, stop: int
) -> Sums:
    import torch

    rows = documents.view(np.int8).reshape(-1, queries.shape[1])[first:stop]
    # Into memory of numpy's, which has the kernel give large pages: of small ones a product of 10 MB takes
    # thousands, and half as long again.
    sums = np.empty((part.stop - part.start, stop - first), dtype=np.int32)
    torch._int_mm(torch.from_numpy(queries[part]), torch.from_numpy(rows).T, out=torch.from_numpy(sums))
    return sums


AVX2: Final = Kernel(exact_kernel.PANEL, TILE, TILE, 128, 64.0, 128.0, _pack_for_avx2, _multiply_for_avx2)
"""sums of a lane in 16 bits"""
AMX: Final = Kernel(
    exact_amx.PANEL, exact_amx.TILES * TILE, TILE, 128, 127.0, np.inf, _pack_for_amx, _multiply_for_amx
)
VNNI: Final = Kernel(1, 1, 1, 0, 127.0, np.inf, np.ascontiguousarray, _multiply_by_library)
