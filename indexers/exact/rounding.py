"""Documents rounded to bytes, in LLVM's language: what `int8.round_documents` does, with sums in registers.

numba keeps the running sums and the largest number of a row in memory, which takes twice as long. The sums
are added up in another order here: they are bounds, with room for any order.
"""

import ctypes
import functools
from collections.abc import Callable
from typing import Final

from pinakes.indexers.exact.kernel import CHUNK, has_kernel
from pinakes.machine_code import compile_function, has_instructions

LANES: Final = 4  # float64 numbers of a register
WIDE_LANES: Final = 8  # of AVX-512

SIGNATURE: Final = ctypes.CFUNCTYPE(
    None, *[ctypes.c_void_p] * 8, *[ctypes.c_int64] * 2, *[ctypes.c_double] * 6
)


@functools.cache
def has_rounding_kernel(width: int) -> bool:
    """Whether this processor can run the kernel, for vectors of `width` dimensions."""
    return width % CHUNK == 0 and width > 0 and has_kernel() and has_instructions("fma")


@functools.cache
def load_rounding_kernel(width: int, interleaved: int, offset: int) -> Callable[..., None]:
    """The compiled function for vectors of `width` dimensions, whose bytes lie as a product takes them.

    Arguments: addresses of the documents (float32), of what each is multiplied with, of the mean (float64),
    of the bytes, of the terms da, dg and dd (float32), and of room for a document (float64); the first
    document and the end; then the most that a number may be, the most that a lane's length may be, the
    smallest step, the part of a length that roundings may take, the mean's length, and what is added to the
    bound, as a part of it and in steps. It holds no interpreter lock.
    """
    lanes = WIDE_LANES if has_instructions("avx512f") and has_instructions("avx512vl") else LANES
    text = write_rounding_kernel(width, interleaved, offset, lanes)
    return compile_function(text, "round_documents", SIGNATURE)


def write_rounding_kernel(width: int, interleaved: int, offset: int, lanes: int) -> str:
    """The function in LLVM's language, for registers of so many numbers."""
    chunk = "<8 x double> %chunk, <8 x double> poison"
    halves = (
        f"%low = shufflevector {chunk}, <4 x i32> {_pick(range(4))}\n"
        f"  %high = shufflevector {chunk}, <4 x i32> {_pick(range(4, 8))}\n"
        "  %four = fadd <4 x double> %low, %high"
    )
    return _FRAME.format(
        width=width,
        chunks=width // CHUNK,
        chunk=CHUNK,
        lanes=lanes,
        kind=f"<{lanes} x double>",
        interleaved=interleaved,
        words_of_group=width // 4 * interleaved,
        words_of_chunk=CHUNK // 4 * interleaved,
        measure="\n".join(_measure_chunk(lanes)),
        four=halves if lanes == WIDE_LANES else "%four = fadd <4 x double> %chunk, zeroinitializer",
        of_four="" if lanes == LANES else f"{_OF_FOUR}\n",
        swapped=_pick((1, 0, 3, 2)),
        round="\n".join(_round_chunk(lanes, interleaved, offset)),
        **{f"{name}_all": _spread(name, lanes) for name in ("factor", "step", "per_step")},
    )


def _measure_chunk(lanes: int) -> list[str]:
    """Lines that leave a chunk's numbers in `room`, its squares in `chunk` and the largest in `most_next`."""
    kind, lines = f"<{lanes} x double>", []
    most, squares = "%most", "zeroinitializer"
    for number in range(CHUNK // lanes):
        at, last = number * lanes, number == CHUNK // lanes - 1
        name = f"m{number}"
        lines += [
            f"  %{name}.from = getelementptr float, ptr %vector_chunk, i64 {at}",
            f"  %{name}.single = load <{lanes} x float>, ptr %{name}.from, align 4",
            f"  %{name}.double = fpext <{lanes} x float> %{name}.single to {kind}",
            f"  %{name}.mean_at = getelementptr double, ptr %mean_chunk, i64 {at}",
            f"  %{name}.mean = load {kind}, ptr %{name}.mean_at, align 8",
            f"  %{name}.less = fneg {kind} %{name}.mean",
            f"  %{name}.z = {_fuse(lanes, f'%{name}.double', '%factor_all', f'%{name}.less')}",
            f"  %{name}.to = getelementptr double, ptr %room_chunk, i64 {at}",
            f"  store {kind} %{name}.z, ptr %{name}.to, align 8",
            f"  %{name}.size = call {kind} @llvm.fabs.v{lanes}f64({kind} %{name}.z)",
            f"  %{name}.more = fcmp ogt {kind} %{name}.size, {most}",
            f"  %{'most_next' if last else name + '.most'} = select <{lanes} x i1> %{name}.more, "
            f"{kind} %{name}.size, {kind} {most}",
            f"  %{'chunk' if last else name + '.squares'} = "
            f"{_fuse(lanes, f'%{name}.z', f'%{name}.z', squares)}",
        ]
        most, squares = f"%{name}.most", f"%{name}.squares"
    return lines


def _round_chunk(lanes: int, interleaved: int, offset: int) -> list[str]:
    """Lines that write a chunk's bytes, and add the squares of what is lost to `error`, as `error_next`."""
    kind, lines = f"<{lanes} x double>", []
    error, words = "%error", lanes // 4
    for number in range(CHUNK // lanes):
        last, name = number == CHUNK // lanes - 1, f"r{number}"
        lines += [
            f"  %{name}.from = getelementptr double, ptr %rounded_chunk, i64 {number * lanes}",
            f"  %{name}.z = load {kind}, ptr %{name}.from, align 8",
            f"  %{name}.steps = fmul {kind} %{name}.z, %per_step_all",
            f"  %{name}.near = call {kind} @llvm.rint.v{lanes}f64({kind} %{name}.steps)",
            f"  %{name}.less = fneg {kind} %{name}.near",
            f"  %{name}.left = {_fuse(lanes, f'%{name}.less', '%step_all', f'%{name}.z')}",
            f"  %{'error_next' if last else name + '.error'} = "
            f"{_fuse(lanes, f'%{name}.left', f'%{name}.left', error)}",
            f"  %{name}.whole = fptosi {kind} %{name}.near to <{lanes} x i32>",
            f"  %{name}.moved = add <{lanes} x i32> %{name}.whole, {_repeat(offset, lanes)}",
            f"  %{name}.bytes = trunc <{lanes} x i32> %{name}.moved to <{lanes} x i8>",
            f"  %{name}.words = bitcast <{lanes} x i8> %{name}.bytes to <{words} x i32>",
        ]
        for word in range(words):
            at = (number * words + word) * interleaved
            lines += [
                f"  %{name}.word{word} = extractelement <{words} x i32> %{name}.words, i32 {word}",
                f"  %{name}.to{word} = getelementptr i32, ptr %bytes_chunk, i64 {at}",
                f"  store i32 %{name}.word{word}, ptr %{name}.to{word}, align 4",
            ]
        error = f"%{name}.error"
    return lines


def _fuse(lanes: int, left: str, right: str, term: str) -> str:
    kind = f"<{lanes} x double>"
    return f"call {kind} @llvm.fma.v{lanes}f64({kind} {left}, {kind} {right}, {kind} {term})"


def _spread(name: str, lanes: int) -> str:
    """Lines that leave the number `name` in all lanes of `name_all`."""
    kind = f"<{lanes} x double>"
    return (
        f"%{name}_one = insertelement {kind} poison, double %{name}, i32 0\n"
        f"  %{name}_all = shufflevector {kind} %{name}_one, {kind} poison, <{lanes} x i32> zeroinitializer"
    )


def _pick(lanes: range | tuple[int, ...]) -> str:
    return "<" + ", ".join(f"i32 {lane}" for lane in lanes) + ">"


def _repeat(number: int, lanes: int) -> str:
    return "<" + ", ".join([f"i32 {number}"] * lanes) + ">"


_OF_FOUR: Final = "declare double @llvm.vector.reduce.fmax.v4f64(<4 x double>)"

_FRAME: Final = """
declare {kind} @llvm.fma.v{lanes}f64({kind}, {kind}, {kind})
declare {kind} @llvm.fabs.v{lanes}f64({kind})
declare {kind} @llvm.rint.v{lanes}f64({kind})
declare double @llvm.vector.reduce.fadd.v{lanes}f64(double, {kind})
declare double @llvm.vector.reduce.fmax.v{lanes}f64({kind})
{of_four}declare double @llvm.sqrt.f64(double)
declare double @llvm.maxnum.f64(double, double)
define void @round_documents(ptr noalias %values, ptr noalias %inverse, ptr noalias %mean, ptr noalias %bytes,
    ptr noalias %da, ptr noalias %dg, ptr noalias %dd, ptr noalias %room, i64 %first, i64 %stop,
    double %most_number, double %most_lane, double %least_step, double %rounding, double %mean_length,
    double %more_room) {{
entry:
  %any = icmp slt i64 %first, %stop
  br i1 %any, label %row, label %end
row:
  %number = phi i64 [%first, %entry], [%next, %done]
  %vector_at = mul i64 %number, {width}
  %vector = getelementptr float, ptr %values, i64 %vector_at
  %factor_at = getelementptr double, ptr %inverse, i64 %number
  %factor = load double, ptr %factor_at
  {factor_all}
  br label %measure
measure:
  %c = phi i64 [0, %row], [%c_next, %measure]
  %most = phi {kind} [zeroinitializer, %row], [%most_next, %measure]
  %total = phi {kind} [zeroinitializer, %row], [%total_next, %measure]
  %longest = phi <4 x double> [zeroinitializer, %row], [%longest_next, %measure]
  %at = mul i64 %c, {chunk}
  %vector_chunk = getelementptr float, ptr %vector, i64 %at
  %mean_chunk = getelementptr double, ptr %mean, i64 %at
  %room_chunk = getelementptr double, ptr %room, i64 %at
{measure}
  %total_next = fadd {kind} %total, %chunk
  {four}
  %pairs = shufflevector <4 x double> %four, <4 x double> poison, <4 x i32> {swapped}
  %lengths = fadd <4 x double> %four, %pairs
  %longer = fcmp ogt <4 x double> %lengths, %longest
  %longest_next = select <4 x i1> %longer, <4 x double> %lengths, <4 x double> %longest
  %c_next = add i64 %c, 1
  %more = icmp slt i64 %c_next, {chunks}
  br i1 %more, label %measure, label %choose
choose:
  %largest = call nnan double @llvm.vector.reduce.fmax.v{lanes}f64({kind} %most_next)
  %square = call reassoc double @llvm.vector.reduce.fadd.v{lanes}f64(double 0.0, {kind} %total_next)
  %lane = call nnan double @llvm.vector.reduce.fmax.v4f64(<4 x double> %longest_next)
  %lane_length = call double @llvm.sqrt.f64(double %lane)
  %by_number = fdiv double %largest, %most_number
  %by_lane = fdiv double %lane_length, %most_lane
  %by_both = call double @llvm.maxnum.f64(double %by_number, double %by_lane)
  %step = call double @llvm.maxnum.f64(double %by_both, double %least_step)
  %per_step = fdiv double 1.0, %step
  {step_all}
  {per_step_all}
  %group = sdiv i64 %number, {interleaved}
  %place = srem i64 %number, {interleaved}
  %group_at = mul i64 %group, {words_of_group}
  %words_at = add i64 %group_at, %place
  %words = getelementptr i32, ptr %bytes, i64 %words_at
  br label %round
round:
  %k = phi i64 [0, %choose], [%k_next, %round]
  %error = phi {kind} [zeroinitializer, %choose], [%error_next, %round]
  %rounded_at = mul i64 %k, {chunk}
  %rounded_chunk = getelementptr double, ptr %room, i64 %rounded_at
  %bytes_at = mul i64 %k, {words_of_chunk}
  %bytes_chunk = getelementptr i32, ptr %words, i64 %bytes_at
{round}
  %k_next = add i64 %k, 1
  %again = icmp slt i64 %k_next, {chunks}
  br i1 %again, label %round, label %done
done:
  %lost_square = call reassoc double @llvm.vector.reduce.fadd.v{lanes}f64(double 0.0, {kind} %error_next)
  %lost = call double @llvm.sqrt.f64(double %lost_square)
  %length = call double @llvm.sqrt.f64(double %square)
  %lengths_of_both = fadd double %length, %mean_length
  %lost_more = fadd double %lost, %lengths_of_both
  %unsure = fmul double %lost_more, %rounding
  %bound = fadd double %lost, %unsure
  %bound_steps = fmul double %bound, %per_step
  %bound_room = fmul double %bound_steps, %more_room
  %bound_up = fadd double %bound_steps, %bound_room
  %bound_safe = fadd double %bound_up, %more_room
  %half = fmul double %square, 0.5
  %half_steps = fmul double %half, %per_step
  %da_single = fptrunc double %per_step to float
  %dg_single = fptrunc double %half_steps to float
  %dd_single = fptrunc double %bound_safe to float
  %da_at = getelementptr float, ptr %da, i64 %number
  %dg_at = getelementptr float, ptr %dg, i64 %number
  %dd_at = getelementptr float, ptr %dd, i64 %number
  store float %da_single, ptr %da_at
  store float %dg_single, ptr %dg_at
  store float %dd_single, ptr %dd_at
  %next = add i64 %number, 1
  %rest = icmp slt i64 %next, %stop
  br i1 %rest, label %row, label %end
end:
  ret void
}}
"""
