"""The product of the quantised pass for processors with AMX: 8-bit products, 1,024 pairs at once.

A panel of 32 queries meets 32 documents (two tiles of `kernel`) in four tile registers: `tdpbsud`
multiplies 16 rows of 64 signed bytes by 64 x 16 unsigned ones. Documents lie as the AVX2 kernel has them,
which is the order that a tile register wants; sums are exact, so both kernels give the same.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Final

from pinakes.indexers.exact.kernel import CHUNK, DEFINE, LOOP_ENDS, LOOPS, SIGNATURE, TILE
from pinakes.machine_code import TILE_DECLARATIONS, compile_function

PANEL: Final = 32  # queries
TILES: Final = 2  # of documents at once
_BYTES: Final = 16 * CHUNK  # of a tile register


@functools.cache
def load_amx_kernel() -> Callable[..., None]:
    """The compiled kernel, with the arguments of `kernel.load_kernel`.

    A tile is here a pair of tiles, and what the corrections would add is added afterwards (`panels`). Trap:
    `has_tiles` asks the system for the registers, so no thread may come here before it said yes.
    """
    return compile_function("\n".join(list_lines()), "multiply", SIGNATURE)


def list_lines() -> Iterator[str]:
    """The product in LLVM's language."""
    yield _HEAD
    yield from _chunk()
    yield from _store()
    yield f"{LOOP_ENDS}\n  call void @llvm.x86.tilerelease()\n  ret void\n}}"


_HEAD: Final = f"""
{TILE_DECLARATIONS}
declare void @llvm.x86.tdpbsud(i8 immarg, i8 immarg, i8 immarg)
{DEFINE} {{
entry:
  call void @llvm.x86.ldtilecfg(ptr @tile_shapes)
  %row_bytes = mul i64 %stride, 4
{LOOPS}
  %doc_at = mul i64 %tile_chunks, {TILES * _BYTES}
  %doc0 = getelementptr i8, ptr %docs, i64 %doc_at
  %doc_bytes = mul i64 %chunks, {_BYTES}
  %query_at = mul i64 %panel_chunks, {2 * _BYTES}
  %query0 = getelementptr i8, ptr %queries, i64 %query_at
  call void @llvm.x86.tilezero(i8 0)
  call void @llvm.x86.tilezero(i8 1)
  call void @llvm.x86.tilezero(i8 2)
  call void @llvm.x86.tilezero(i8 3)
  br label %chunk
chunk:
  %c = phi i64 [0, %work], [%c_next, %chunk]
  %doc = phi ptr [%doc0, %work], [%doc_next, %chunk]
  %query = phi ptr [%query0, %work], [%query_next, %chunk]"""


def _chunk() -> Iterator[str]:
    # Registers 0 to 3 are the sums, 4 and 5 the queries' halves, 6 and 7 the documents'.
    yield f"  %query_low = getelementptr i8, ptr %query, i64 {_BYTES}"
    yield "  %doc_right = getelementptr i8, ptr %doc, i64 %doc_bytes"
    for register, at in ((4, "query"), (5, "query_low"), (6, "doc"), (7, "doc_right")):
        yield f"  call void @llvm.x86.tileloadd64(i8 {register}, ptr %{at}, i64 64)"
    for register, left, right in ((0, 4, 6), (1, 4, 7), (2, 5, 6), (3, 5, 7)):
        yield f"  call void @llvm.x86.tdpbsud(i8 {register}, i8 {left}, i8 {right})"
    yield f"  %doc_next = getelementptr i8, ptr %doc, i64 {_BYTES}"
    yield f"  %query_next = getelementptr i8, ptr %query, i64 {2 * _BYTES}"
    yield "  %c_next = add i64 %c, 1"
    yield "  %last = icmp eq i64 %c_next, %chunks"
    yield "  br i1 %last, label %chunk_end, label %chunk"


def _store() -> Iterator[str]:
    yield "chunk_end:"
    yield f"  %column = mul i64 %tile, {TILES * TILE}"
    yield f"  %row = mul i64 %panel, {PANEL}"
    for register in range(4):
        half, side = divmod(register, 2)
        yield f"  %row{register} = add i64 %row, {half * PANEL // 2}"
        yield f"  %row_at{register} = mul i64 %row{register}, %stride"
        yield f"  %place{register} = add i64 %row_at{register}, %column"
        yield f"  %at{register} = add i64 %place{register}, {side * TILE}"
        yield f"  %to{register} = getelementptr i32, ptr %sums, i64 %at{register}"
        yield f"  call void @llvm.x86.tilestored64(i8 {register}, ptr %to{register}, i64 %row_bytes)"
