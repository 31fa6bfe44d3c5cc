"""The inner products of many pairs, in LLVM's language: the bits of `scores.multiply_add`, sooner.

All additions of a width's tree are written out, so that no sum goes through memory. A product of two float32
numbers is exact in float64, so that multiplying and adding in one rounding gives what two roundings give.
"""

import ctypes
import functools
from collections.abc import Callable
from typing import Final

from pinakes.indexers.exact.kernel import has_kernel
from pinakes.machine_code import compile_function, has_instructions

LANES: Final = 4  # float64 numbers of a register
WIDE_LANES: Final = 8  # of AVX-512
HALVES: Final = 8  # parts of the width that are of whole registers, for the first three halvings
MOST_DIMENSIONS: Final = 2048  # whose additions are worth being written out

SIGNATURE: Final = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 6, ctypes.c_int64)


@functools.cache
def has_pair_kernel(width: int) -> bool:
    """Whether this processor can run the kernel, for vectors of `width` dimensions."""
    fits = width % (HALVES * LANES) == 0 and 0 < width <= MOST_DIMENSIONS
    return fits and has_kernel() and has_instructions("fma")


@functools.cache
def load_pair_kernel(width: int) -> Callable[..., None]:
    """The compiled products of vectors of `width` dimensions, as a function.

    Arguments: addresses of queries and documents (float32), of the pairs' rows of each (int64), of room for a
    query and of the products (float64); then the number of pairs. It holds no interpreter lock.
    """
    wide = has_instructions("avx512f") and width % (HALVES * WIDE_LANES) == 0
    text = write_pair_kernel(width, WIDE_LANES if wide else LANES)
    return compile_function(text, "multiply_pairs", SIGNATURE)


def write_pair_kernel(width: int, lanes: int) -> str:
    """The function in LLVM's language, for registers of so many numbers."""
    tree = _Tree(width, lanes)
    product = tree.fold()
    return _FRAME.format(width=width, lanes=lanes, tree="\n".join(tree.lines), product=product)


class _Tree:
    """The lines that add up the products of a query (float64) and a document (float32)."""

    def __init__(self, width: int, lanes: int) -> None:
        self.lines: list[str] = []
        self._eighth = width // HALVES
        self._lanes, self._vector = lanes, f"<{lanes} x double>"

    def fold(self) -> str:
        """The name of the sum, in the order of `scores.fold`."""
        registers = self._eighth // self._lanes
        whole = registers & -registers  # halves of these are whole registers
        sums = [self._halve(number, registers // whole) for number in range(registers // whole)]
        singles = [
            self._name(f"extractelement {self._vector} {name}, i32 {i}")
            for name in sums
            for i in range(self._lanes)
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
        if count * self._lanes == self._eighth:
            return self._add_eighths(number * self._lanes)
        return self._add(self._halve(number, 2 * count), self._halve(number + count, 2 * count))

    def _add_eighths(self, at: int) -> str:
        first, second, third, fourth = [self._multiply(at + i * self._eighth) for i in (0, 2, 1, 3)]
        return self._add(self._add(first, second), self._add(third, fourth))

    def _multiply(self, at: int) -> str:
        """The products at a place and half a vector on, added."""
        low = self._name(f"fmul {self._vector} {self._load_query(at)}, {self._load_document(at)}")
        high = at + 4 * self._eighth
        left, right = self._load_query(high), self._load_document(high)
        terms = ", ".join(f"{self._vector} {name}" for name in (left, right, low))
        return self._name(f"call {self._vector} @llvm.fma.v{self._lanes}f64({terms})")

    def _load_query(self, at: int) -> str:
        place = self._name(f"getelementptr double, ptr %held_query, i64 {at}")
        return self._name(f"load {self._vector}, ptr {place}, align 32")

    def _load_document(self, at: int) -> str:
        place = self._name(f"getelementptr float, ptr %document, i64 {at}")
        single = self._name(f"load <{self._lanes} x float>, ptr {place}, align 4")
        return self._name(f"fpext <{self._lanes} x float> {single} to {self._vector}")

    def _add(self, left: str, right: str, kind: str = "") -> str:
        return self._name(f"fadd {kind or self._vector} {left}, {right}")

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
