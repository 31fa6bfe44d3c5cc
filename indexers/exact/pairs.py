"""The inner products of many pairs, in LLVM's language, for AVX2: the bits of `scores.multiply_add`, sooner.

All additions of a width's tree are written out, so that no sum goes through memory. A product of two float32
numbers is exact in float64, so that multiplying and adding in one rounding gives what two roundings give.
"""

import ctypes
import functools
from collections.abc import Callable
from typing import Final

from pinakes.indexers.exact.kernel import compile_function, has_kernel

LANES: Final = 4  # float64 numbers of a register
MULTIPLE: Final = 8 * LANES  # of the width: the first three halvings are of whole registers
MOST_DIMENSIONS: Final = 2048  # whose additions are worth being written out

_VECTOR: Final = f"<{LANES} x double>"
_SIGNATURE: Final = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 6, ctypes.c_int64)


@functools.cache
def has_pair_kernel(width: int) -> bool:
    """Whether this processor can run the kernel, for vectors of `width` dimensions."""
    if not has_kernel() or width % MULTIPLE or not 0 < width <= MOST_DIMENSIONS:
        return False
    import llvmlite.binding as llvm

    return bool(llvm.get_host_cpu_features().get("fma"))


@functools.cache
def load_pair_kernel(width: int) -> Callable[..., None]:
    """The compiled products of vectors of `width` dimensions, a multiple of `MULTIPLE`, as a function.

    Arguments: addresses of queries and documents (float32), of the pairs' rows of each (int64), of room for a
    query and of the products (float64); then the number of pairs. It holds no interpreter lock.
    """
    return compile_function(write_pair_kernel(width), "multiply_pairs", _SIGNATURE)


def write_pair_kernel(width: int) -> str:
    """The function in LLVM's language."""
    tree = _Tree(width)
    product = tree.fold()
    return _FRAME.format(width=width, lanes=LANES, tree="\n".join(tree.lines), product=product)


class _Tree:
    """The lines that add up the products of a query (float64) and a document (float32)."""

    def __init__(self, width: int) -> None:
        self.lines: list[str] = []
        self._eighth = width // 8

    def fold(self) -> str:
        """The name of the sum, in the order of `scores.fold`."""
        registers = self._eighth // LANES
        whole = registers & -registers  # halves of these are whole registers
        sums = [self._halve(number, registers // whole) for number in range(registers // whole)]
        singles = [
            self._name(f"extractelement {_VECTOR} {name}, i32 {i}") for name in sums for i in range(LANES)
        ]
        while len(singles) > 1:
            half = len(singles) // 2
            added = [self._add(*pair, "double") for pair in zip(singles[:half], singles[half:], strict=False)]
            if len(singles) % 2:
                added[0] = self._add(added[0], singles[-1], "double")
            singles = added
        return singles[0]

    def _halve(self, number: int, count: int) -> str:
        """Register `number` of the sums when `count` registers of them are left."""
        if count * LANES == self._eighth:
            return self._add_eighths(number * LANES)
        return self._add(self._halve(number, 2 * count), self._halve(number + count, 2 * count))

    def _add_eighths(self, at: int) -> str:
        first, second, third, fourth = [self._multiply(at + i * self._eighth) for i in (0, 2, 1, 3)]
        return self._add(self._add(first, second), self._add(third, fourth))

    def _multiply(self, at: int) -> str:
        """The products at a place and half a vector on, added."""
        low = self._name(f"fmul {_VECTOR} {self._load_query(at)}, {self._load_document(at)}")
        high = at + 4 * self._eighth
        left, right = self._load_query(high), self._load_document(high)
        return self._name(
            f"call {_VECTOR} @llvm.fma.v{LANES}f64({_VECTOR} {left}, {_VECTOR} {right}, {_VECTOR} {low})"
        )

    def _load_query(self, at: int) -> str:
        place = self._name(f"getelementptr double, ptr %held_query, i64 {at}")
        return self._name(f"load {_VECTOR}, ptr {place}, align 32")

    def _load_document(self, at: int) -> str:
        place = self._name(f"getelementptr float, ptr %document, i64 {at}")
        single = self._name(f"load <{LANES} x float>, ptr {place}, align 4")
        return self._name(f"fpext <{LANES} x float> {single} to {_VECTOR}")

    def _add(self, left: str, right: str, kind: str = _VECTOR) -> str:
        return self._name(f"fadd {kind} {left}, {right}")

    def _name(self, value: str) -> str:
        self.lines.append(f"  %t{len(self.lines)} = {value}")
        return f"%t{len(self.lines) - 1}"


_FRAME: Final = """
declare <{lanes} x double> @llvm.fma.v{lanes}f64(<{lanes} x double>, <{lanes} x double>, <{lanes} x double>)
define void @multiply_pairs(ptr noalias %queries, ptr noalias %documents, ptr noalias %query_rows,
    ptr noalias %document_rows, ptr noalias %held_query, ptr noalias %products, i64 %count) {{
entry:
  %any = icmp sgt i64 %count, 0
  br i1 %any, label %pair, label %stop
pair:
  %number = phi i64 [0, %entry], [%next, %work]
  %held = phi i64 [-1, %entry], [%query_row, %work]
  %query_row_at = getelementptr i64, ptr %query_rows, i64 %number
  %query_row = load i64, ptr %query_row_at
  %same = icmp eq i64 %query_row, %held
  br i1 %same, label %work, label %hold
hold:
  %query_at = mul i64 %query_row, {width}
  %query = getelementptr float, ptr %queries, i64 %query_at
  br label %copy
copy:
  %i = phi i64 [0, %hold], [%i_next, %copy]
  %from = getelementptr float, ptr %query, i64 %i
  %single = load <{lanes} x float>, ptr %from, align 4
  %wide = fpext <{lanes} x float> %single to <{lanes} x double>
  %to = getelementptr double, ptr %held_query, i64 %i
  store <{lanes} x double> %wide, ptr %to, align 32
  %i_next = add i64 %i, {lanes}
  %more = icmp slt i64 %i_next, {width}
  br i1 %more, label %copy, label %work
work:
  %document_row_at = getelementptr i64, ptr %document_rows, i64 %number
  %document_row = load i64, ptr %document_row_at
  %document_at = mul i64 %document_row, {width}
  %document = getelementptr float, ptr %documents, i64 %document_at
{tree}
  %product_at = getelementptr double, ptr %products, i64 %number
  store double {product}, ptr %product_at
  %next = add i64 %number, 1
  %again = icmp slt i64 %next, %count
  br i1 %again, label %pair, label %stop
stop:
  ret void
}}
"""
