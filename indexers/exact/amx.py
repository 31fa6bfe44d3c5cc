"""The inner loop of the quantised pass for processors with AMX: 8-bit products, 1,024 pairs at once.

A panel of 32 queries meets 32 documents (two tiles of `kernel`) in four tile registers: `tdpbsud`
multiplies 16 rows of 64 signed bytes by 64 x 16 unsigned ones. Documents lie as the AVX2 kernel has them,
which is the order that a tile register wants; sums are exact, so both kernels keep the same pairs.
"""

import ctypes
import functools
from collections.abc import Callable, Iterator
from typing import Final

from pinakes.indexers.exact.kernel import CHUNK, DEFINE, LOOP_ENDS, LOOPS, SIGNATURE, TILE, compile_function

PANEL: Final = 32  # queries
TILES: Final = 2  # of documents at once
RECORD: Final = 2 + PANEL * TILES * TILE // 32  # int32: panel, pair of tiles, one bit for each pair
ARCH_PRCTL: Final = 158
REQUEST_PERMISSION: Final = 0x1023
TILE_DATA: Final = 18
_BYTES: Final = 16 * CHUNK  # of a tile register


@functools.cache
def has_amx() -> bool:
    """Whether this processor has AMX for bytes, and the system lets this process use it.

    >>> has_amx() in (True, False)
    True
    """
    try:
        import llvmlite.binding as llvm
    except ImportError:
        return False
    llvm.initialize_native_target()
    if not llvm.get_process_triple().startswith("x86_64-") or "linux" not in llvm.get_process_triple():
        return False
    features = llvm.get_host_cpu_features()
    if not all(features.get(name) for name in ("amx-tile", "amx-int8", "avx512f")):
        return False
    # Linux hands out the registers' 8 KiB of state on request alone, once for a process.
    return bool(ctypes.CDLL(None).syscall(ARCH_PRCTL, REQUEST_PERMISSION, TILE_DATA) == 0)


@functools.cache
def load_amx_kernel() -> Callable[..., None]:
    """The compiled kernel, with the arguments of `kernel.load_kernel`.

    A tile is here a pair of tiles, and corrections are one int32 for each query. Trap: `has_amx` asks the
    system for the registers, so no thread may come here before it said yes.
    """
    return compile_function("\n".join(_lines()), "scan", SIGNATURE)


def _lines() -> Iterator[str]:
    yield _HEAD
    yield from _chunk()
    yield _compare()
    yield _NEXT


def _config() -> str:
    """The shape of the eight tile registers: 16 rows of 64 bytes."""
    values = [1, *[0] * 15, *[64, 0] * 8, *[0] * 16, *[16] * 8, *[0] * 8]
    return ", ".join(f"i8 {value}" for value in values)


_HEAD: Final = f"""
declare void @llvm.x86.ldtilecfg(ptr)
declare void @llvm.x86.tilerelease()
declare void @llvm.x86.tilezero(i8 immarg)
declare void @llvm.x86.tileloadd64(i8 immarg, ptr, i64)
declare void @llvm.x86.tdpbsud(i8 immarg, i8 immarg, i8 immarg)
declare void @llvm.x86.tilestored64(i8 immarg, ptr, i64)
@config = internal constant [64 x i8] [{_config()}], align 64
{DEFINE} {{
entry:
  %sums = alloca [{PANEL * TILES * TILE} x i32], align 64
  call void @llvm.x86.ldtilecfg(ptr @config)
  %state1 = getelementptr i64, ptr %state, i64 1
  %state2 = getelementptr i64, ptr %state, i64 2
{LOOPS}
  %doc_at = mul i64 %tile_chunks, {TILES * _BYTES}
  %doc0 = getelementptr i8, ptr %docs, i64 %doc_at
  %doc_bytes = mul i64 %chunks, {_BYTES}
  %panel_chunks = mul i64 %panel, %chunks
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
    yield "chunk_end:"
    for register in range(4):
        place = register // 2 * TILE * 2 * TILE + register % 2 * TILE
        yield f"  %to{register} = getelementptr i32, ptr %sums, i64 {place}"
        yield f"  call void @llvm.x86.tilestored64(i8 {register}, ptr %to{register}, i64 {4 * 2 * TILE})"


def _compare() -> str:
    # A pair is kept unless its sum < qa * da + qg * dg - qd * dd, in float32: also where that is no number.
    lines = [f"  %doc_first = mul i64 %tile, {TILES * TILE}", f"  %query_first = mul i64 %panel, {PANEL}"]
    for term in ("da", "dg", "dd"):
        lines.append(f"  %{term}0 = getelementptr float, ptr %{term}, i64 %doc_first")
        for side in range(TILES):
            lines.append(f"  %{term}p{side} = getelementptr float, ptr %{term}0, i64 {side * TILE}")
            lines.append(f"  %{term}v{side} = load <16 x float>, ptr %{term}p{side}, align 64")
    lines += [
        f"  %record_at = mul i64 %count, {RECORD}",
        "  %record = getelementptr i32, ptr %records, i64 %record_at",
        "  %panel32 = trunc i64 %panel to i32",
        "  store i32 %panel32, ptr %record",
        "  %record1 = getelementptr i32, ptr %record, i64 1",
        "  %tile32 = trunc i64 %tile to i32",
        "  store i32 %tile32, ptr %record1",
        "  %masks = getelementptr i32, ptr %record, i64 2",
        "  br label %row",
        "row:",
        "  %m = phi i64 [0, %chunk_end], [%m_next, %row]",
        "  %found = phi i32 [0, %chunk_end], [%found_next, %row]",
        "  %q = add i64 %query_first, %m",
    ]
    for term, kind in (("qa", "float"), ("qg", "float"), ("qd", "float"), ("corrections", "i32")):
        lines += _broadcast(term, kind)
    lines.append(f"  %row_at = mul i64 %m, {TILES * TILE}")
    for side in range(TILES):
        lines += [
            f"  %at{side} = add i64 %row_at, {side * TILE}",
            f"  %sp{side} = getelementptr i32, ptr %sums, i64 %at{side}",
            f"  %s{side} = load <16 x i32>, ptr %sp{side}, align 64",
            f"  %t{side} = add <16 x i32> %s{side}, %correctionsv",
            f"  %f{side} = sitofp <16 x i32> %t{side} to <16 x float>",
            f"  %x{side} = fmul <16 x float> %qav, %dav{side}",
            f"  %y{side} = fmul <16 x float> %qgv, %dgv{side}",
            f"  %z{side} = fmul <16 x float> %qdv, %ddv{side}",
            f"  %u{side} = fadd <16 x float> %x{side}, %y{side}",
            f"  %v{side} = fsub <16 x float> %u{side}, %z{side}",
            f"  %b{side} = fcmp uge <16 x float> %f{side}, %v{side}",
            f"  %k{side} = bitcast <16 x i1> %b{side} to i16",
            f"  %w{side} = zext i16 %k{side} to i32",
        ]
    return "\n".join(lines)


def _broadcast(term: str, kind: str) -> list[str]:
    whole = f"<16 x {kind}>"
    return [
        f"  %{term}p = getelementptr {kind}, ptr %{term}, i64 %q",
        f"  %{term}l = load {kind}, ptr %{term}p, align 4",
        f"  %{term}i = insertelement {whole} poison, {kind} %{term}l, i32 0",
        f"  %{term}v = shufflevector {whole} %{term}i, {whole} poison, <16 x i32> zeroinitializer",
    ]


_NEXT: Final = f"""  %high = shl i32 %w1, {TILE}
  %word = or i32 %w0, %high
  %mask_p = getelementptr i32, ptr %masks, i64 %m
  store i32 %word, ptr %mask_p
  %found_next = or i32 %found, %word
  %m_next = add i64 %m, 1
  %more_rows = icmp slt i64 %m_next, {PANEL}
  br i1 %more_rows, label %row, label %panel_end
panel_end:
  %any = icmp ne i32 %found_next, 0
  %one = zext i1 %any to i64
  %count_next = add i64 %count, %one
{LOOP_ENDS}
  call void @llvm.x86.tilerelease()
  ret void
}}"""
