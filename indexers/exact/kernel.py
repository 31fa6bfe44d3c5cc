"""The inner loop of the quantised pass: 8-bit products in 16-bit sums, in LLVM's language, for AVX2.

A panel of 6 queries meets a tile of 16 documents: `vpmaddubsw` multiplies 32 pairs of bytes and adds them two
by two, `vpaddw` adds 16 of its results before one `vpmaddwd` widens them to 32 bits. The 16-bit sums wrap
around, so only the sum of a lane over a whole chunk has to fit (`int8` sees to it), not each partial
sum; that a pair never saturates follows from |document| + 128 <= 255 and |query| <= 64, since
2 * 255 * 64 = 32,640.
"""

import ctypes
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final, cast

PANEL: Final = 6  # queries
TILE: Final = 16  # documents
CHUNK: Final = 64  # dimensions whose products add up in 16 bits, in two lanes of 32
RECORD: Final = 2 + PANEL * TILE // 32  # int32: panel, tile, one bit for each pair
STEPS: Final = CHUNK // 4
VECTORS: Final = TILE // 8

_compiling: Final = threading.RLock()
_engines: Final[list[Any]] = []  # they own the code
SIGNATURE: Final = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 11, *[ctypes.c_int64] * 4)


def has_kernel() -> bool:
    """Whether this processor can run the kernel.

    >>> has_kernel() in (True, False)
    True
    """
    try:
        import llvmlite.binding as llvm
    except ImportError:
        return False
    return bool(llvm.get_process_triple().startswith("x86_64") and llvm.get_host_cpu_features().get("avx2"))


def load_kernel() -> Callable[..., None]:
    """The compiled kernel, `scan` below, as a function of addresses and counts; it holds no interpreter lock.

    Arguments: state (int64[3]: tile, panel, records; where to begin, then where it ended), documents,
    queries, corrections, the queries' three and the documents' three terms of the threshold, records;
    then chunks, panels, tiles, and how many records there is room for.
    """
    return _load()


def compile_function(text: str, name: str, signature: type[Any]) -> Callable[..., Any]:
    """The function `name` of a module in LLVM's language, compiled for this processor."""
    import llvmlite.binding as llvm

    with _compiling:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        module = llvm.parse_assembly(text)
        module.verify()
        machine = llvm.Target.from_default_triple().create_target_machine(
            cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3
        )
        engine = llvm.create_mcjit_compiler(module, machine)
        engine.finalize_object()
        _engines.append(engine)
        return cast(Callable[..., Any], signature(engine.get_function_address(name)))


@functools.cache
def _load() -> Callable[..., None]:
    return compile_function("\n".join(_lines()), "scan", SIGNATURE)


def _lines() -> Iterator[str]:
    yield "declare <16 x i16> @llvm.x86.avx2.pmadd.ub.sw(<32 x i8>, <32 x i8>)"
    yield "declare <8 x i32> @llvm.x86.avx2.pmadd.wd(<16 x i16>, <16 x i16>)"
    yield _HEAD
    yield from _chunk()
    yield from _compare()
    yield _KEEP
    yield from _store_masks()
    yield _NEXT


_PAIRS: Final = [(query, vector) for query in range(PANEL) for vector in range(VECTORS)]

DEFINE: Final = """\
define void @scan(ptr %state, ptr %docs, ptr %queries, ptr %corrections, ptr %qa, ptr %qg, ptr %qd,
                  ptr %da, ptr %dg, ptr %dd, ptr %records, i64 %chunks, i64 %panels, i64 %tiles, i64 %room)"""

LOOPS: Final = """  %tile0 = load i64, ptr %state
  %panel0 = load i64, ptr %state1
  br label %tile_loop
tile_loop:
  %tile = phi i64 [%tile0, %entry], [%tile_next, %tile_end]
  %panel_first = phi i64 [%panel0, %entry], [0, %tile_end]
  %count_t = phi i64 [0, %entry], [%count_next, %tile_end]
  %more_tiles = icmp slt i64 %tile, %tiles
  br i1 %more_tiles, label %panel_loop, label %stop
panel_loop:
  %panel = phi i64 [%panel_first, %tile_loop], [%panel_next, %panel_end]
  %count = phi i64 [%count_t, %tile_loop], [%count_next, %panel_end]
  %full = icmp sge i64 %count, %room
  br i1 %full, label %stop, label %work
work:
  %tile_chunks = mul i64 %tile, %chunks"""
"""over the tiles of documents and, within, the panels of queries, from where the last call stopped"""

LOOP_ENDS: Final = """  %panel_next = add i64 %panel, 1
  %more_panels = icmp slt i64 %panel_next, %panels
  br i1 %more_panels, label %panel_loop, label %tile_end
tile_end:
  %tile_next = add i64 %tile, 1
  br label %tile_loop
stop:
  %panel_stop = phi i64 [%panel_first, %tile_loop], [%panel, %panel_loop]
  %count_stop = phi i64 [%count_t, %tile_loop], [%count, %panel_loop]
  store i64 %tile, ptr %state
  store i64 %panel_stop, ptr %state1
  store i64 %count_stop, ptr %state2"""

_HEAD: Final = f"""
{DEFINE} {{
entry:
  %state1 = getelementptr i64, ptr %state, i64 1
  %state2 = getelementptr i64, ptr %state, i64 2
{LOOPS}
  %doc_at = mul i64 %tile_chunks, {CHUNK * TILE}
  %doc0 = getelementptr i8, ptr %docs, i64 %doc_at
  %panel_chunks = mul i64 %panel, %chunks
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

_KEEP: Final = f"""
  br i1 %nothing, label %panel_end, label %keep
keep:
  %record_at = mul i64 %count, {RECORD}
  %record = getelementptr i32, ptr %records, i64 %record_at
  %panel32 = trunc i64 %panel to i32
  store i32 %panel32, ptr %record
  %record1 = getelementptr i32, ptr %record, i64 1
  %tile32 = trunc i64 %tile to i32
  store i32 %tile32, ptr %record1
  %record2 = getelementptr i32, ptr %record, i64 2"""

_NEXT: Final = f"""  %count_kept = add i64 %count, 1
  br label %panel_end
panel_end:
  %count_next = phi i64 [%count, %chunk_end], [%count_kept, %keep]
{LOOP_ENDS}
  ret void
}}"""


def _chunk() -> Iterator[str]:
    for i, j in _PAIRS:
        yield f"  %t{i}_{j} = phi <8 x i32> [zeroinitializer, %work], [%n{i}_{j}, %chunk]"
    sums = {}
    for i in range(PANEL):
        yield from _broadcast(f"r{i}", "correction", i, "i32", "<16 x i16>")
        sums.update({(i, j): f"%r{i}" for j in range(VECTORS)})
    for step in range(STEPS):
        for j in range(VECTORS):
            yield f"  %dp{step}_{j} = getelementptr i8, ptr %doc, i64 {(step * VECTORS + j) * 32}"
            yield f"  %d{step}_{j} = load <32 x i8>, ptr %dp{step}_{j}, align 32"
        for i in range(PANEL):
            yield from _broadcast(f"q{step}_{i}", "query", step * PANEL + i, "i32", "<32 x i8>")
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


def _compare() -> Iterator[str]:
    # A pair is kept unless its sum < qa * da + qg * dg - qd * dd, in float32: also where that is no number.
    yield "chunk_end:"
    yield f"  %doc_first = mul i64 %tile, {TILE}"
    yield f"  %query_first = mul i64 %panel, {PANEL}"
    for term in ("da", "dg", "dd"):
        yield f"  %{term}0 = getelementptr float, ptr %{term}, i64 %doc_first"
        for j in range(VECTORS):
            yield f"  %{term}p{j} = getelementptr float, ptr %{term}0, i64 {j * 8}"
            yield f"  %{term}v{j} = load <8 x float>, ptr %{term}p{j}, align 32"
    for term in ("qa", "qg", "qd"):
        yield f"  %{term}0 = getelementptr float, ptr %{term}, i64 %query_first"
    found = "zeroinitializer"
    for i in range(PANEL):
        for term in ("qa", "qg", "qd"):
            yield from _broadcast(f"{term}v{i}", f"{term}0", i, "float", "<8 x float>")
        for j in range(VECTORS):
            n = f"{i}_{j}"
            yield f"  %f{n} = sitofp <8 x i32> %n{n} to <8 x float>"
            yield f"  %x{n} = fmul <8 x float> %qav{i}, %dav{j}"
            yield f"  %y{n} = fmul <8 x float> %qgv{i}, %dgv{j}"
            yield f"  %z{n} = fmul <8 x float> %qdv{i}, %ddv{j}"
            yield f"  %u{n} = fadd <8 x float> %x{n}, %y{n}"
            yield f"  %v{n} = fsub <8 x float> %u{n}, %z{n}"
            yield f"  %b{n} = fcmp uge <8 x float> %f{n}, %v{n}"
            yield f"  %o{n} = or <8 x i1> {found}, %b{n}"
            found = f"%o{n}"
    yield f"  %any = bitcast <8 x i1> {found} to i8"
    yield "  %nothing = icmp eq i8 %any, 0"


def _store_masks() -> Iterator[str]:
    for number, (i, j) in enumerate(_PAIRS):
        yield f"  %k{i}_{j} = bitcast <8 x i1> %b{i}_{j} to i8"
        yield f"  %kp{i}_{j} = getelementptr i8, ptr %record2, i64 {number}"
        yield f"  store i8 %k{i}_{j}, ptr %kp{i}_{j}"


def _broadcast(name: str, base: str, index: int, kind: str, shape: str) -> Iterator[str]:
    whole = f"<8 x {kind}>"
    yield f"  %{name}_p = getelementptr {kind}, ptr %{base}, i64 {index}"
    yield f"  %{name}_l = load {kind}, ptr %{name}_p, align 4"
    yield f"  %{name}_i = insertelement {whole} poison, {kind} %{name}_l, i32 0"
    yield f"  %{name}_s = shufflevector {whole} %{name}_i, {whole} poison, <8 x i32> zeroinitializer"
    yield f"  %{name} = bitcast {whole} %{name}_s to {shape}"
