"""The attention kernel in LLVM's language, made for a head's width and for a processor's registers.

A unit is a head of a text. Its keys are laid out with the dimensions outermost; then a few queries at a time
meet all keys and values, in the loops of `AttentionText.write`. A cell is what a lane multiplies: a float32
number, or two bf16 numbers of neighbouring dimensions (queries and keys) or of neighbouring keys (weights and
values). What depends on the shape is written by the methods; what surrounds it stands below as text.
The two are one module since each names values of the other.
"""

import ctypes
import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

VECTORS: Final = 2  # registers side by side
ROUNDING: Final = 12582912.0  # 1.5 * 2**23: adding it rounds to a whole number, in the lowest bits
LOWEST: Final = -126.0  # the exponent of the least normal number
POWER: Final = (
    *(1.0000001192092896, 0.6931471824645996, 0.2402210682630539),
    *(0.05550327152013779, 0.009676037356257439, 0.0013400432653725147),
)
"""a polynomial of 2**x for -0.5 <= x <= 0.5, from its constant on; off by 2.3e-7 of the value at most"""


class Task(ctypes.Structure):
    """What the threads of a call share; a unit is a head of a text."""

    _fields_ = (
        ("next_unit", ctypes.c_int64),
        ("next_thread", ctypes.c_int64),
        ("units", ctypes.c_int64),
        ("units_at_once", ctypes.c_int64),
        ("heads", ctypes.c_int64),
        ("room", ctypes.c_int64),  # keys of the longest text, in whole tiles
        ("scratch_size", ctypes.c_int64),  # bytes of a thread, see `count_scratch`
        ("scratch", ctypes.c_void_p),
        ("projected", ctypes.c_void_p),
        ("attended", ctypes.c_void_p),
        ("ends", ctypes.c_void_p),
        ("scale", ctypes.c_double),  # of the scores, to exponents of two
    )


def count_scratch(head_width: int, room: int, lanes: int, rows: int) -> int:
    """Bytes that a thread needs: keys, values and scores of the longest text, and what a step has beside."""
    tile = VECTORS * lanes
    floats = 2 * room * head_width + (room + tile + head_width // 2) * rows + 3 * tile
    return ctypes.sizeof(ctypes.c_float) * floats


def write_attention(head_width: int, lanes: int, rows: int, half: bool) -> str:
    """A function `attend` of a `Task`'s address, for registers of so many float32 numbers.

    `rows` queries are taken at a time; `half` is for bf16.
    """
    return "\n".join(AttentionText(head_width, lanes, rows, half).write())


class AttentionText:
    """The function, line by line; `declarations`, `begin` and `end` are what a kind of products needs."""

    declarations = begin = end = ""

    def __init__(self, head_width: int, lanes: int, rows: int, half: bool) -> None:
        self._width, self._lanes, self._rows, self._half = head_width, lanes, rows, half
        self._cell_size = 2 if half else 1
        self._cells = head_width // self._cell_size
        self._kind = "bfloat" if half else "float"
        self._floats, self._ints = f"<{lanes} x float>", f"<{lanes} x i32>"
        self._numbers, self._pairs = f"<{lanes} x {self._kind}>", f"<{2 * lanes} x bfloat>"
        self._lines: list[str] = []
        self._hidden: dict[float, str] = {}

    def write(self) -> list[str]:
        """The module's lines."""
        self._add(_HEAD, fields="\n".join(_load_fields()), declarations=self.declarations, begin=self.begin)
        self._pack()
        self._choose_queries()
        self._score()
        self._weigh()
        self._sum_values()
        self._add(_END, end=self.end)
        if self._half:
            self._add(_PRODUCT_OF_PAIRS, pairs=self._pairs, bits=32 * self._lanes)
        return self._lines

    def _pack(self) -> None:
        """Keys with the dimensions outermost, and values; past the text its last ones, without weight."""
        self._add(_PACK)
        for number in range(self._cell_size):
            self._add(_PACKED_ROW, packed=number)
            for cell in range(self._cells):
                row = self._name(f"mul i64 %room, {cell}")
                place = self._name(f"add i64 {row}, %j{number}")
                self._store("i32", self._load("i32", f"%key{number}", cell), "%keys", place)
        for at in range(0, self._width, self._lanes):
            rows = [self._load(self._numbers, f"%value{i}", at) for i in range(self._cell_size)]
            if self._half:
                order = ", ".join(f"i32 {lane}, i32 {self._lanes + lane}" for lane in range(self._lanes))
                pairs = self._name(
                    f"shufflevector {self._numbers} {rows[0]}, {self._numbers} {rows[1]}, "
                    f"<{2 * self._lanes} x i32> <{order}>"
                )
                self._store(self._pairs, pairs, "%packed", at)
            else:
                self._store(self._floats, rows[0], "%packed", at)
        self._add(_PACK_END)

    def _choose_queries(self) -> None:
        """The rows of a step; in place of those past the text its last one, written several times."""
        self._add(_STEP)
        for row in range(self._rows):
            self._add(_QUERY, row=row)

    def _score(self) -> None:
        """The queries' scores with all keys; minus infinity past the text."""
        self._add(_TILE)
        starts = self._choose_starts(self._name("sub i64 %n, %key"))
        self._multiply("score", "tile", "query", "%tile_keys", "%room", str(self._cells), starts)
        for row, vector in self._sums():
            place = self._name(f"add i64 %key, {vector * self._lanes}")
            self._store(self._floats, f"%score{row}_{vector}_next", f"%scores{row}", place)
        self._add(TILE_END)

    def _choose_starts(self, left: str) -> list[str]:
        """What a tile's scores begin with where so many keys are left: 0, or minus infinity."""
        starts, spread = [], self._spread(left, "i64")
        for vector in range(VECTORS):
            numbers = ", ".join(f"i64 {vector * self._lanes + lane}" for lane in range(self._lanes))
            here = self._name(f"icmp slt <{self._lanes} x i64> <{numbers}>, {spread}")
            starts.append(
                self._name(
                    f"select <{self._lanes} x i1> {here}, {self._floats} zeroinitializer, "
                    f"{self._floats} {self._constant(-math.inf)}"
                )
            )
        return starts

    def _weigh(self) -> None:
        """Powers of the scores less their greatest, in their place, and one over each row's sum."""
        for value in (*POWER, LOWEST, ROUNDING):
            self._hide(value)
        self._add(GREATEST, row_end="powers_end")
        greatest = self._name(f"fmul float {self._find_greatest('%greatest_next')}, %scale_single")
        scale, greatest = self._spread("%scale_single"), self._spread(self._name(f"fneg float {greatest}"))
        self._add_powers("greatest_end", "%row_scores", scale, greatest)
        self._add(_SHARE)

    def _add_powers(self, before: str, scores: str, scale: str, less: str) -> None:
        """From the block `before` to the block `powers_end`: a row's powers, and its `%totals`."""
        self._add(_POWERS, before=before)
        for vector in range(VECTORS):
            place = self._name(f"add i64 %p, {vector * self._lanes}")
            score = self._load(self._floats, scores, place)
            weight = self._raise_two(self._fuse(score, scale, less))
            self._add(
                "  %total{vector}_next = fadd {floats} %total{vector}, {weight}", vector=vector, weight=weight
            )
            self._store(self._numbers, self._round(weight), scores, place)
        self._add(_POWERS_END)

    def _hide(self, value: float) -> None:
        """Keep a constant in a register; LLVM would load what it can see again in each turn of the loop."""
        hidden = self._name(f'call float asm "", "=x,0"(float {_write_bits(value)})')
        self._hidden[value] = self._spread(hidden)

    def _find_greatest(self, vector: str) -> str:
        """The greatest of its numbers, half against half; LLVM's reduction goes number by number."""
        lanes = self._lanes
        while lanes > 1:
            whole, lanes = f"<{lanes} x float>", lanes // 2
            half = f"<{lanes} x float>"
            low, high = (
                self._name(
                    f"shufflevector {whole} {vector}, {whole} poison, "
                    f"<{lanes} x i32> <{', '.join(f'i32 {first + lane}' for lane in range(lanes))}>"
                )
                for first in (0, lanes)
            )
            is_greater = self._name(f"fcmp ogt {half} {low}, {high}")
            vector = self._name(f"select <{lanes} x i1> {is_greater}, {half} {low}, {half} {high}")
        return self._name(f"extractelement <1 x float> {vector}, i32 0")

    def _sum_values(self) -> None:
        """The values by their weights, a tile of the head's width at a time."""
        self._add(_PART)
        self._multiply_values()
        for row in range(self._rows):
            share = self._spread(self._load("float", "%shares", row))
            place = self._name(f"getelementptr {self._kind}, ptr %attended{row}, i64 %part_at")
            for vector in range(VECTORS):
                value = self._name(f"fmul {self._floats} %sum{row}_{vector}_next, {share}")
                self._store(self._numbers, self._round(value), place, vector * self._lanes)
        self._add(_PART_END)

    def _multiply_values(self) -> None:
        """From the block `part` to the block `sum_end`: the sums of values, as `%sumR_V_next`."""
        starts = ["zeroinitializer"] * VECTORS
        self._multiply("sum", "part", "scores", "%part_values", str(self._width), "%key_cells", starts)

    def _multiply(
        self, name: str, before: str, left: str, right: str, stride: str, count: str, starts: list[str]
    ) -> None:
        """A loop that adds products of cells: those of each row `left`, with tiles `stride` cells apart.

        It comes from the block `before` with `starts` for sums, and leaves them in `%NAMEr_v_next`, of row
        r and register v.
        """
        self._add(_LOOP, name=name, before=before, right=right)
        for row, vector in self._sums():
            self._lines.append(
                f"  %{name}{row}_{vector} = phi {self._floats} [{starts[vector]}, %{before}], "
                f"[%{name}{row}_{vector}_next, %{name}_loop]"
            )
        kind = self._ints if self._half else self._floats
        tile = [self._load(kind, f"%{name}_right", vector * self._lanes) for vector in range(VECTORS)]
        for row in range(self._rows):
            cell = self._load("i32" if self._half else "float", f"%{left}{row}", f"%{name}_i")
            cells = self._spread(cell, "i32" if self._half else "float")
            for vector in range(VECTORS):
                sums = f"%{name}{row}_{vector}"
                self._lines.append(f"  {sums}_next = {self._add_product(cells, tile[vector], sums)}")
        self._add(_LOOP_END, name=name, stride=stride, count=count)

    def _add_product(self, left: str, right: str, sums: str) -> str:
        if not self._half:
            terms = ", ".join(f"{self._floats} {term}" for term in (left, right, sums))
            return f"call {self._floats} @llvm.fma.v{self._lanes}f32({terms})"
        pairs = [self._name(f"bitcast {self._ints} {cells} to {self._pairs}") for cells in (left, right)]
        terms = ", ".join(f"{self._pairs} {pair}" for pair in pairs)
        name = f"@llvm.x86.avx512bf16.dpbf16ps.{32 * self._lanes}"
        return f"call {self._floats} {name}({self._floats} {sums}, {terms})"

    def _raise_two(self, exponents: str) -> str:
        """Two to the power of each number; none is above 0, and NaN stays NaN."""
        floats, ints = self._floats, self._ints
        lowest = self._hidden[LOWEST]
        below = self._name(f"fcmp olt {floats} {exponents}, {lowest}")
        bounded = self._name(f"select <{self._lanes} x i1> {below}, {floats} {lowest}, {floats} {exponents}")
        rounding = self._hidden[ROUNDING]
        shifted = self._name(f"fadd {floats} {bounded}, {rounding}")
        whole = self._name(f"fsub {floats} {shifted}, {rounding}")
        rest = self._name(f"fsub {floats} {bounded}, {whole}")
        power = self._hidden[POWER[-1]]
        for coefficient in reversed(POWER[:-1]):
            power = self._fuse(power, rest, self._hidden[coefficient])
        exponent = self._name(f"bitcast {floats} {shifted} to {ints}")
        exponent = self._name(f"shl {ints} {exponent}, <{', '.join(['i32 23'] * self._lanes)}>")
        bits = self._name(f"bitcast {floats} {power} to {ints}")
        return self._name(f"bitcast {ints} {self._name(f'add {ints} {bits}, {exponent}')} to {floats}")

    def _round(self, value: str) -> str:
        if not self._half:
            return value
        return self._name(f"fptrunc {self._floats} {value} to {self._numbers}")

    def _fuse(self, left: str, right: str, summand: str) -> str:
        terms = ", ".join(f"{self._floats} {term}" for term in (left, right, summand))
        return self._name(f"call {self._floats} @llvm.fma.v{self._lanes}f32({terms})")

    def _constant(self, value: float) -> str:
        return f"<{', '.join([f'float {_write_bits(value)}'] * self._lanes)}>"

    def _spread(self, value: str, kind: str = "float") -> str:
        vector = f"<{self._lanes} x {kind}>"
        first = self._name(f"insertelement {vector} poison, {kind} {value}, i32 0")
        return self._name(f"shufflevector {vector} {first}, {vector} poison, {self._ints} zeroinitializer")

    def _load(self, kind: str, base: str, at: object) -> str:
        return self._name(f"load {kind}, ptr {self._place(kind, base, at)}, align 2")

    def _store(self, kind: str, value: str, base: str, at: object) -> None:
        self._lines.append(f"  store {kind} {value}, ptr {self._place(kind, base, at)}, align 2")

    def _place(self, kind: str, base: str, at: object) -> str:
        """The address of a number, or of a cell where pairs are stored."""
        number = "i32" if kind == self._pairs else kind.split()[-1].rstrip(">")
        return self._name(f"getelementptr {number}, ptr {base}, i64 {at}")

    def _name(self, value: str) -> str:
        self._lines.append(f"  %t{len(self._lines)} = {value}")
        return f"%t{len(self._lines) - 1}"

    def _sums(self) -> list[tuple[int, int]]:
        return [(row, vector) for row in range(self._rows) for vector in range(VECTORS)]

    def _add(self, text: str, **words: object) -> None:
        self._lines.append(
            text.format(
                floats=self._floats,
                number=self._kind,
                lanes=self._lanes,
                rows=self._rows,
                tile=VECTORS * self._lanes,
                width=self._width,
                sums_size=VECTORS * self._lanes * self._rows,
                tiles=2 * VECTORS * self._lanes,
                tile_less=VECTORS * self._lanes - 1,
                cell_size=self._cell_size,
                cell_less=self._cell_size - 1,
                least=self._constant(-3e38),
                **words,
            )
        )


def _write_bits(value: float) -> str:
    """A float32 number as LLVM reads it: the bits of the float64 that is equal to it."""
    return f"0x{int(np.float64(np.float32(value)).view(np.uint64)):016X}"


def _load_fields() -> Iterator[str]:
    """Loads of the task's fields, each under its name."""
    kinds: dict[Any, str] = {ctypes.c_int64: "i64", ctypes.c_void_p: "ptr", ctypes.c_double: "double"}
    for name, kind in Task._fields_:
        yield f"  %{name}_field = getelementptr i8, ptr %task, i64 {getattr(Task, name).offset}"
        if not name.startswith("next_"):
            yield f"  %{name} = load {kinds[kind]}, ptr %{name}_field"


_PRODUCT_OF_PAIRS: Final = "declare {floats} @llvm.x86.avx512bf16.dpbf16ps.{bits}({floats}, {pairs}, {pairs})"

_HEAD: Final = """
declare {floats} @llvm.fma.v{lanes}f32({floats}, {floats}, {floats})
declare float @llvm.vector.reduce.fadd.v{lanes}f32(float, {floats})
declare i64 @llvm.smin.i64(i64, i64)
{declarations}
define void @attend(ptr %task) {{
entry:
{fields}
{begin}
  %scale_single = fptrunc double %scale to float
  %width = mul i64 %heads, {width}
  %stride = mul i64 %width, 3
  %thread = atomicrmw add ptr %next_thread_field, i64 1 monotonic
  %scratch_at = mul i64 %thread, %scratch_size
  %keys = getelementptr i8, ptr %scratch, i64 %scratch_at
  %packed_size = mul i64 %room, {width}
  %values = getelementptr float, ptr %keys, i64 %packed_size
  %scores = getelementptr float, ptr %values, i64 %packed_size
  %scores_size = mul i64 %room, {rows}
  %starts = getelementptr float, ptr %scores, i64 %scores_size
  %shares = getelementptr float, ptr %starts, i64 {tiles}
  %sums = getelementptr float, ptr %shares, i64 {tile}
  %queries = getelementptr float, ptr %sums, i64 {sums_size}
  br label %take
take:
  %first_unit = atomicrmw add ptr %next_unit_field, i64 %units_at_once monotonic
  %past_units = add i64 %first_unit, %units_at_once
  %end_unit = call i64 @llvm.smin.i64(i64 %past_units, i64 %units)
  %any = icmp slt i64 %first_unit, %units
  br i1 %any, label %unit, label %stop
unit:
  %unit_n = phi i64 [%first_unit, %take], [%unit_next, %unit_end]
  %text = sdiv i64 %unit_n, %heads
  %head = srem i64 %unit_n, %heads
  %start_at = getelementptr i32, ptr %ends, i64 %text
  %end_at = getelementptr i32, ptr %start_at, i64 1
  %start_short = load i32, ptr %start_at
  %end_short = load i32, ptr %end_at
  %start = sext i32 %start_short to i64
  %end = sext i32 %end_short to i64
  %n = sub i64 %end, %start
  %last = sub i64 %n, 1
  %n_past = add i64 %n, {tile_less}
  %tiles = sdiv i64 %n_past, {tile}
  %padded = mul i64 %tiles, {tile}
  %key_cells_past = add i64 %n, {cell_less}
  %key_cells = sdiv i64 %key_cells_past, {cell_size}
  %head_at = mul i64 %head, {width}
  %text_at = mul i64 %start, %stride
  %unit_at = add i64 %text_at, %head_at
  %unit_queries = getelementptr {number}, ptr %projected, i64 %unit_at
  %unit_keys = getelementptr {number}, ptr %unit_queries, i64 %width
  %unit_values = getelementptr {number}, ptr %unit_keys, i64 %width
  %text_out_at = mul i64 %start, %width
  %out_at = add i64 %text_out_at, %head_at
  %unit_attended = getelementptr {number}, ptr %attended, i64 %out_at
  %any_tokens = icmp sgt i64 %n, 0
  br i1 %any_tokens, label %pack, label %unit_end"""

_PACK: Final = """pack:
  %j0 = phi i64 [0, %unit], [%j_next, %pack]
  %j1 = add i64 %j0, 1
  %packed_at = mul i64 %j0, {width}
  %packed = getelementptr {number}, ptr %values, i64 %packed_at"""

_PACKED_ROW: Final = """  %row{packed} = call i64 @llvm.smin.i64(i64 %j{packed}, i64 %last)
  %row_at{packed} = mul i64 %row{packed}, %stride
  %key{packed} = getelementptr {number}, ptr %unit_keys, i64 %row_at{packed}
  %value{packed} = getelementptr {number}, ptr %unit_values, i64 %row_at{packed}"""

_PACK_END: Final = """  %j_next = add i64 %j0, {cell_size}
  %more_rows = icmp slt i64 %j_next, %padded
  br i1 %more_rows, label %pack, label %step"""

_STEP: Final = """step:
  %query_n = phi i64 [0, %pack], [%query_next, %step_end]"""

_QUERY: Final = """  %query_past{row} = add i64 %query_n, {row}
  %query_row{row} = call i64 @llvm.smin.i64(i64 %query_past{row}, i64 %last)
  %query_at{row} = mul i64 %query_row{row}, %stride
  %query{row} = getelementptr {number}, ptr %unit_queries, i64 %query_at{row}
  %attended_at{row} = mul i64 %query_row{row}, %width
  %attended{row} = getelementptr {number}, ptr %unit_attended, i64 %attended_at{row}
  %scores_at{row} = mul i64 %room, {row}
  %scores{row} = getelementptr float, ptr %scores, i64 %scores_at{row}"""

_TILE: Final = """  br label %tile
tile:
  %key = phi i64 [0, %step], [%key_next, %score_end]
  %tile_keys = getelementptr i32, ptr %keys, i64 %key"""

TILE_END: Final = """  %key_next = add i64 %key, {tile}
  %more_keys = icmp slt i64 %key_next, %padded
  br i1 %more_keys, label %tile, label %weigh
weigh:"""

_LOOP: Final = """  br label %{name}_loop
{name}_loop:
  %{name}_i = phi i64 [0, %{before}], [%{name}_i_next, %{name}_loop]
  %{name}_right = phi ptr [{right}, %{before}], [%{name}_right_next, %{name}_loop]"""

_LOOP_END: Final = """  %{name}_right_next = getelementptr i32, ptr %{name}_right, i64 {stride}
  %{name}_i_next = add i64 %{name}_i, 1
  %{name}_more = icmp slt i64 %{name}_i_next, {count}
  br i1 %{name}_more, label %{name}_loop, label %{name}_end
{name}_end:"""

GREATEST: Final = """  br label %weigh_row
weigh_row:
  %row = phi i64 [0, %weigh], [%row_next, %{row_end}]
  %row_at = mul i64 %row, %room
  %row_scores = getelementptr float, ptr %scores, i64 %row_at
  br label %greatest_loop
greatest_loop:
  %g = phi i64 [0, %weigh_row], [%g_next, %greatest_loop]
  %greatest = phi {floats} [{least}, %weigh_row], [%greatest_next, %greatest_loop]
  %score_at = getelementptr float, ptr %row_scores, i64 %g
  %score = load {floats}, ptr %score_at, align 4
  %is_greater = fcmp ogt {floats} %score, %greatest
  %greatest_next = select <{lanes} x i1> %is_greater, {floats} %score, {floats} %greatest
  %g_next = add i64 %g, {lanes}
  %more_scores = icmp slt i64 %g_next, %padded
  br i1 %more_scores, label %greatest_loop, label %greatest_end
greatest_end:"""

_POWERS: Final = """  br label %powers
powers:
  %p = phi i64 [0, %{before}], [%p_next, %powers]
  %total0 = phi {floats} [zeroinitializer, %{before}], [%total0_next, %powers]
  %total1 = phi {floats} [zeroinitializer, %{before}], [%total1_next, %powers]"""

_POWERS_END: Final = """  %p_next = add i64 %p, {tile}
  %more_powers = icmp slt i64 %p_next, %padded
  br i1 %more_powers, label %powers, label %powers_end
powers_end:
  %totals = fadd {floats} %total0_next, %total1_next"""

_SHARE: Final = """
  %total = call reassoc float @llvm.vector.reduce.fadd.v{lanes}f32(float 0.0, {floats} %totals)
  %share = fdiv float 1.0, %total
  %share_at = getelementptr float, ptr %shares, i64 %row
  store float %share, ptr %share_at
  %row_next = add i64 %row, 1
  %weigh_more = icmp slt i64 %row_next, {rows}
  br i1 %weigh_more, label %weigh_row, label %weigh_end
weigh_end:
  br label %part"""

_PART: Final = """part:
  %part_at = phi i64 [0, %weigh_end], [%part_next, %sum_end]
  %part_values = getelementptr i32, ptr %values, i64 %part_at"""

_PART_END: Final = """  %part_next = add i64 %part_at, {tile}
  %more_parts = icmp slt i64 %part_next, {width}
  br i1 %more_parts, label %part, label %step_end
step_end:
  %query_next = add i64 %query_n, {rows}
  %more_queries = icmp slt i64 %query_next, %n
  br i1 %more_queries, label %step, label %unit_end"""

_END: Final = """unit_end:
  %unit_next = add i64 %unit_n, 1
  %more_units = icmp slt i64 %unit_next, %end_unit
  br i1 %more_units, label %unit, label %take
stop:
{end}
  ret void
}}
"""
