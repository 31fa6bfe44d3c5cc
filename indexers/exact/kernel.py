"""The product of the quantised pass: 8-bit products in 16-bit sums, in LLVM's language, for AVX2.

A panel of 6 queries meets a tile of 16 documents: `vpmaddubsw` multiplies 32 pairs of bytes and adds them two
by two, `vpaddw` adds 16 of its results before one `vpmaddwd` widens them to 32 bits. The 16-bit sums wrap
around, so only the sum of a lane over a whole chunk has to fit (`int8` sees to it), not each partial
sum; that a pair never saturates follows from |document| + 128 <= 255 and |query| <= 64, since
2 * 255 * 64 = 32,640. No library has it for AVX2: `torch._int_mm` is a hundred times slower there.
"""

import ctypes
import functools
from collections.abc import Callable, Iterator
from typing import Final

from pinakes.machine_code import compile_function, has_instructions

PANEL: Final = 6  # queries
TILE: Final = 16  # documents
CHUNK: Final = 64  # dimensions whose products add up in 16 bits, in two lanes of 32
STEPS: Final = CHUNK // 4
VECTORS: Final = TILE // 8

SIGNATURE: Final = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, *[ctypes.c_int64] * 4)


def has_kernel() -> bool:
    """Whether this processor can run the kernel.

    >>> has_kernel() in (True, False)
    True
    """
    return has_instructions("avx2")


@functools.cache
def load_kernel() -> Callable[..., None]:
    """The compiled product, as a function of addresses and counts; it holds no interpreter lock.

    Arguments: documents, queries, corrections, sums (int32, a row for each query of the panels); then chunks,
    panels, tiles, and how many numbers a row of the sums has.
    """
    return compile_function("\n".join(_lines()), "multiply", SIGNATURE)


DEFINE: Final = """\
define void @multiply(ptr %docs, ptr %queries, ptr %corrections, ptr %sums,
                      i64 %chunks, i64 %panels, i64 %tiles, i64 %stride)"""

LOOPS: Final = """  br label %tile_loop
tile_loop:
  %tile = phi i64 [0, %entry], [%tile_next, %tile_end]
  %more_tiles = icmp slt i64 %tile, %tiles
  br i1 %more_tiles, label %panel_loop, label %stop
panel_loop:
  %panel = phi i64 [0, %tile_loop], [%panel_next, %chunk_end]
  %more_panels = icmp slt i64 %panel, %panels
  br i1 %more_panels, label %work, label %tile_end
work:
  %tile_chunks = mul i64 %tile, %chunks
  %panel_chunks = mul i64 %panel, %chunks"""
"""over the tiles of documents and, within, the panels of queries"""

LOOP_ENDS: Final = """  %panel_next = add i64 %panel, 1
  br label %panel_loop
tile_end:
  %tile_next = add i64 %tile, 1
  br label %tile_loop
stop:"""

_HEAD: Final = f"""
declare <16 x i16> @llvm.x86.avx2.pmadd.ub.sw(<32 x i8>, <32 x i8>)
declare <8 x i32> @llvm.x86.avx2.pmadd.wd(<16 x i16>, <16 x i16>)
{DEFINE} {{
entry:
{LOOPS}
  %doc_at = mul i64 %tile_chunks, {CHUNK * TILE}
  %doc0 = getelementptr i8, ptr %docs, i64 %doc_at
  %query_at = mul i64 %panel_chunks, {STEPS * PANEL}
  %query0 = getelementptr i32, ptr %queries, i64 %query_at
  %correction_at = mul i64 %panel_chunks, {PANEL}
  %correction0 = getelementptr i32, ptr %corrections, i64 %correction_at
  br label %chunk
chunk:
  %c = phi i64 [0, %work], [%c_next, %chunk]
  %doc = phi ptr [%doc0, %work], [%doc_next, %chunk]
  %query = phi ptr [%query0, %work], [%query_next, %chunk]
  %correction = phi ptr [%correction0, %work], [%correction_next, %chunk]"""

_PAIRS: Final = [(query, vector) for query in range(PANEL) for vector in range(VECTORS)]


def _lines() -> Iterator[str]:
    yield _HEAD
    yield from _chunk()
    yield from _store()
    yield f"{LOOP_ENDS}\n  ret void\n}}"


def _chunk() -> Iterator[str]:
    for i, j in _PAIRS:
        yield f"  %t{i}_{j} = phi <8 x i32> [zeroinitializer, %work], [%n{i}_{j}, %chunk]"
    sums = {}
    for i in range(PANEL):
        yield from _broadcast(f"r{i}", "correction", i, "<16 x i16>")
        sums.update({(i, j): f"%r{i}" for j in range(VECTORS)})
    for step in range(STEPS):
        for j in range(VECTORS):
            yield f"  %dp{step}_{j} = getelementptr i8, ptr %doc, i64 {(step * VECTORS + j) * 32}"
            yield f"  %d{step}_{j} = load <32 x i8>, ptr %dp{step}_{j}, align 32"
        for i in range(PANEL):
            yield from _broadcast(f"q{step}_{i}", "query", step * PANEL + i, "<32 x i8>")
            for j in range(VECTORS):
                name = f"{step}_{i}_{j}"
                yield (
                    f"  %m{name} = call <16 x i16> @llvm.x86.avx2.pmadd.ub.sw("
                    f"<32 x i8> %d{step}_{j}, <32 x i8> %q{step}_{i})"
                )
                yield f"  %s{name} = add <16 x i16> {sums[i, j]}, %m{name}"
                sums[i, j] = f"%s{name}"
    ones = f"<16 x i16> <{', '.join(['i16 1'] * 16)}>"
    for i, j in _PAIRS:
        yield f"  %w{i}_{j} = call <8 x i32> @llvm.x86.avx2.pmadd.wd(<16 x i16> {sums[i, j]}, {ones})"
        yield f"  %n{i}_{j} = add <8 x i32> %t{i}_{j}, %w{i}_{j}"
    yield f"  %doc_next = getelementptr i8, ptr %doc, i64 {CHUNK * TILE}"
    yield f"  %query_next = getelementptr i32, ptr %query, i64 {STEPS * PANEL}"
    yield f"  %correction_next = getelementptr i32, ptr %correction, i64 {PANEL}"
    yield "  %c_next = add i64 %c, 1"
    yield "  %last = icmp eq i64 %c_next, %chunks"
    yield "  br i1 %last, label %chunk_end, label %chunk"


def _store() -> Iterator[str]:
    yield "chunk_end:"
    yield f"  %column = mul i64 %tile, {TILE}"
    yield f"  %row0 = mul i64 %panel, {PANEL}"
    for i in range(PANEL):
        yield f"  %row{i}_n = add i64 %row0, {i}"
        yield f"  %row{i}_at = mul i64 %row{i}_n, %stride"
        yield f"  %place{i} = add i64 %row{i}_at, %column"
        for j in range(VECTORS):
            yield f"  %at{i}_{j} = add i64 %place{i}, {j * 8}"
            yield f"  %to{i}_{j} = getelementptr i32, ptr %sums, i64 %at{i}_{j}"
            yield f"  store <8 x i32> %n{i}_{j}, ptr %to{i}_{j}, align 32"


def _broadcast(name: str, base: str, index: int, shape: str) -> Iterator[str]:
    yield f"  %{name}_p = getelementptr i32, ptr %{base}, i64 {index}"
    yield f"  %{name}_l = load i32, ptr %{name}_p, align 4"
    yield f"  %{name}_i = insertelement <8 x i32> poison, i32 %{name}_l, i32 0"
    yield f"  %{name}_s = shufflevector <8 x i32> %{name}_i, <8 x i32> poison, <8 x i32> zeroinitializer"
    yield f"  %{name} = bitcast <8 x i32> %{name}_s to {shape}"
