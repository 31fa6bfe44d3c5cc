"""A float32 look at each candidate of the quantised pass, so that fewer have to be scored exactly.

An inner product in float32 is off by at most d u / (1 - d u) |q| |x| in any order of its sums (Higham,
Accuracy and Stability of Numerical Algorithms, section 3.1), a thousandth of what bytes lose. Written in
LLVM's language, since numba adds one number after another where the order of a sum may not change.
"""

import ctypes
import functools
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.exact.kernel import compile_function
from pinakes.indexers.exact.scores import CheckedVectors, Rows
from pinakes.indexers.names import Distance

SIGNATURE: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 7, *[ctypes.c_int64] * 3)
LANES: Final = 32


def filter_pairs(
    queries: CheckedVectors,
    block: CheckedVectors,
    lengths: NDArray[np.float32],
    part: slice,
    lowest: NDArray[np.float64],
    distance: Distance,
    query: Rows,
    document: Rows,
) -> int:
    """Move the pairs that could still matter to the front of `query` (from `part`'s first) and `document`.

    Returns how many they are. `lengths` are the block's as float32, `lowest` the k-th best scores of `part`.
    """
    width = queries.values.shape[1]
    if distance == "l2":
        return len(query)
    error = 1.1 * (width + 64) * 2.0**-24
    size = queries.lengths[part]
    with np.errstate(invalid="ignore", over="ignore"):
        # A query that has fewer than k documents, and what is no number, lets every pair through.
        least = lowest - 2.0**-21 * np.abs(lowest) - 2.0**-140
        if distance == "cosine":
            factor, constant = (least - error) * size, np.zeros(len(size))
        else:
            factor, constant = -error * size, least
        constant = constant - width * 2.0**-126 - 2.0**-22 * np.abs(constant)
        terms = [np.ascontiguousarray(term, dtype=np.float32) for term in (factor, constant)]
    values = queries.values[part]
    arrays: list[NDArray[Any]] = [values, block.values, lengths, *terms, query, document]
    return int(_load()(*[array.ctypes.data for array in arrays], len(query), width, width // LANES))


@functools.cache
def _load() -> Callable[..., Any]:
    return compile_function(_FILTER, "keep", SIGNATURE)


def _unrolled() -> str:
    lines = []
    for number in range(LANES // 8):
        lines += [
            f"  %lp{number} = getelementptr float, ptr %left, i64 {number * 8}",
            f"  %rp{number} = getelementptr float, ptr %right, i64 {number * 8}",
            f"  %lv{number} = load <8 x float>, ptr %lp{number}, align 4",
            f"  %rv{number} = load <8 x float>, ptr %rp{number}, align 4",
            f"  %n{number} = call <8 x float> @llvm.fma.v8f32("
            f"<8 x float> %lv{number}, <8 x float> %rv{number}, <8 x float> %s{number})",
        ]
    return "\n".join(lines)


def _phis(source: str, target: str) -> str:
    return "\n".join(
        f"  %s{number} = phi <8 x float> [zeroinitializer, %{source}], [%n{number}, %{target}]"
        for number in range(LANES // 8)
    )


_FILTER: Final = f"""
declare <8 x float> @llvm.fma.v8f32(<8 x float>, <8 x float>, <8 x float>)
declare float @llvm.vector.reduce.fadd.v8f32(float, <8 x float>)
define i64 @keep(ptr %queries, ptr %documents, ptr %lengths, ptr %factors, ptr %constants, ptr %query,
                  ptr %document, i64 %count, i64 %width, i64 %strides) {{
entry:
  br label %pair
pair:
  %number = phi i64 [0, %entry], [%number_next, %pair_end]
  %kept = phi i64 [0, %entry], [%kept_next, %pair_end]
  %more = icmp slt i64 %number, %count
  br i1 %more, label %begin, label %stop
begin:
  %qp = getelementptr i64, ptr %query, i64 %number
  %q = load i64, ptr %qp
  %xp = getelementptr i64, ptr %document, i64 %number
  %x = load i64, ptr %xp
  %q_at = mul i64 %q, %width
  %x_at = mul i64 %x, %width
  %left0 = getelementptr float, ptr %queries, i64 %q_at
  %right0 = getelementptr float, ptr %documents, i64 %x_at
  br label %stride
stride:
  %c = phi i64 [0, %begin], [%c_next, %stride_body]
  %left = phi ptr [%left0, %begin], [%left_next, %stride_body]
  %right = phi ptr [%right0, %begin], [%right_next, %stride_body]
{_phis("begin", "stride_body")}
  %more_strides = icmp slt i64 %c, %strides
  br i1 %more_strides, label %stride_body, label %reduce
stride_body:
{_unrolled()}
  %left_next = getelementptr float, ptr %left, i64 {LANES}
  %right_next = getelementptr float, ptr %right, i64 {LANES}
  %c_next = add i64 %c, 1
  br label %stride
reduce:
  %s01 = fadd <8 x float> %s0, %s1
  %s23 = fadd <8 x float> %s2, %s3
  %all = fadd <8 x float> %s01, %s23
  %sum0 = call reassoc float @llvm.vector.reduce.fadd.v8f32(float 0.0, <8 x float> %all)
  %done = mul i64 %strides, {LANES}
  br label %tail
tail:
  %i = phi i64 [%done, %reduce], [%i_next, %tail_body]
  %sum = phi float [%sum0, %reduce], [%sum_next, %tail_body]
  %more_tail = icmp slt i64 %i, %width
  br i1 %more_tail, label %tail_body, label %judge
tail_body:
  %tlp = getelementptr float, ptr %left0, i64 %i
  %trp = getelementptr float, ptr %right0, i64 %i
  %tl = load float, ptr %tlp
  %tr = load float, ptr %trp
  %product = fmul float %tl, %tr
  %sum_next = fadd float %sum, %product
  %i_next = add i64 %i, 1
  br label %tail
judge:
  %length_p = getelementptr float, ptr %lengths, i64 %x
  %length = load float, ptr %length_p
  %factor_p = getelementptr float, ptr %factors, i64 %q
  %factor = load float, ptr %factor_p
  %constant_p = getelementptr float, ptr %constants, i64 %q
  %constant = load float, ptr %constant_p
  %scaled = fmul float %factor, %length
  %threshold = fadd float %scaled, %constant
  %keep = fcmp uge float %sum, %threshold
  %qk = getelementptr i64, ptr %query, i64 %kept
  store i64 %q, ptr %qk
  %xk = getelementptr i64, ptr %document, i64 %kept
  store i64 %x, ptr %xk
  %one = zext i1 %keep to i64
  br label %pair_end
pair_end:
  %kept_next = add i64 %kept, %one
  %number_next = add i64 %number, 1
  br label %pair
stop:
  ret i64 %kept
}}"""
