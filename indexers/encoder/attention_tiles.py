"""The attention kernel for processors with AMX: products of bf16 in tile registers.

Keys, values and weights lie as `attention_text` has them, which is the order that a tile register wants.
A tile of 16 queries meets 32 keys, then the weights of 32 keys meet 32 numbers of the values. With the
products so fast, the softmax between takes most of the time: so 16 rows get their greatest scores and their
sums at once, and powers of two are AVX-512's.
"""

from collections.abc import Callable
from typing import Final

from pinakes.indexers.encoder.attention_text import GREATEST, TILE_END, VECTORS, AttentionText
from pinakes.machine_code import TILE_BYTES, TILE_DECLARATIONS, TILE_ROWS

LANES: Final = TILE_BYTES // 4
_FLOATS: Final = f"<{LANES} x float>"
_HALVES: Final = TILE_BYTES // 2
_LEFT: Final = 2  # the first tile register of queries or weights; before it are those of sums
_RIGHT: Final = 6  # of keys or values
WIDEST_HEAD: Final = (_RIGHT - _LEFT) * _HALVES
_POWER: Final = (1.00000259, 0.69300384, 0.24144275, 0.05201146, 0.01353417)
"""a polynomial of 2**x for 0 <= x < 1, from its constant on; off by 2.6e-6 of the value, a bf16 by 2e-3"""


def write_tile_attention(head_width: int) -> str:
    """A function `attend` of a `Task`'s address, for bf16 and heads of 32, 64, 96 or 128 numbers."""
    return "\n".join(_TileText(head_width, LANES, TILE_ROWS, half=True).write())


class _TileText(AttentionText):
    """The function, line by line."""

    declarations = f"""{TILE_DECLARATIONS}
declare void @llvm.x86.tdpbf16ps(i8 immarg, i8 immarg, i8 immarg)
declare {_FLOATS} @llvm.x86.avx512.mask.reduce.ps.512({_FLOATS}, i32, {_FLOATS}, i16, i32)
declare {_FLOATS} @llvm.x86.avx512.mask.scalef.ps.512({_FLOATS}, {_FLOATS}, {_FLOATS}, i16, i32)"""
    begin = "  call void @llvm.x86.ldtilecfg(ptr @tile_shapes)\n  %room_bytes = mul i64 %room, 4"
    end = "  call void @llvm.x86.tilerelease()"

    def _choose_queries(self) -> None:
        """The rows of a step side by side, in tile registers."""
        super()._choose_queries()
        for row in range(self._rows):
            for at in range(0, self._cells, LANES):
                cells = self._load(self._ints, f"%query{row}", at)
                self._store(self._ints, cells, "%queries", row * self._cells + at)
        # What all tiles of scores begin with, and the last one: stored some time before they are loaded.
        self._add(_LAST)
        for at, starts in (
            (0, ["zeroinitializer"] * VECTORS),
            (VECTORS * LANES, self._choose_starts("%last_left")),
        ):
            for vector, start in enumerate(starts):
                self._store(_FLOATS, start, "%starts", at + vector * LANES)
        for number in range(self._width // _HALVES):
            place = self._place("i32", "%queries", number * LANES)
            self._load_tile(_LEFT + number, place, 2 * self._width)

    def _score(self) -> None:
        self._add(_SCORE)
        for vector in range(VECTORS):
            # Each row of the tile is the same: the next one lies no bytes behind it.
            self._load_tile(vector, self._place("float", "%score_start", vector * LANES), 0)
        for number in range(self._width // _HALVES):
            row = self._name(f"mul i64 %room, {number * LANES}")
            self._add_products(_LEFT + number, self._place("i32", "%tile_keys", row), "%room_bytes")
        self._store_sums(self._place("float", "%scores", "%key"), "%room_bytes")
        self._lines.append("  br label %score_end\nscore_end:")
        self._add(TILE_END)

    def _weigh(self) -> None:
        for value in _POWER:
            self._hide(value)
        self._add(GREATEST, row_end="greatest_end")
        self._add(_KEEP_GREATEST)
        greatest = self._reduce_rows(self._choose_greater)
        scale = self._spread("%scale_single")
        less = self._name(f"fneg {_FLOATS} {self._name(f'fmul {_FLOATS} {greatest}, {scale}')}")
        self._store(_FLOATS, less, "%shares", LANES)
        self._add(_POWERS_ROW)
        less = self._spread(self._load("float", "%less", "%power_row"))
        self._add_powers("powers_row", "%power_scores", scale, less)
        self._add(_KEEP_TOTALS)
        totals = self._reduce_rows(lambda left, right: self._name(f"fadd {_FLOATS} {left}, {right}"))
        shares = self._name(f"fdiv {_FLOATS} {self._constant(1.0)}, {totals}")
        self._store(_FLOATS, shares, "%shares", 0)
        self._lines.append("  br label %part")

    def _reduce_rows(self, operation: Callable[[str, str], str]) -> str:
        """Of each row in `%sums` one number, from all its lanes: two vectors become one, again and again."""
        vectors = [self._load(_FLOATS, "%sums", row * LANES) for row in range(self._rows)]
        size = LANES  # lanes that a row still has
        while len(vectors) > 1:
            first = [lane for lane in range(2 * LANES) if lane % size < size // 2]
            second = [lane + size // 2 for lane in first]
            vectors = [
                operation(*(self._choose_lanes(left, right, half) for half in (first, second)))
                for left, right in zip(vectors[::2], vectors[1::2], strict=True)
            ]
            size //= 2
        return vectors[0]

    def _choose_lanes(self, left: str, right: str, lanes: list[int]) -> str:
        numbers = ", ".join(f"i32 {lane}" for lane in lanes)
        return self._name(f"shufflevector {_FLOATS} {left}, {_FLOATS} {right}, {self._ints} <{numbers}>")

    def _choose_greater(self, left: str, right: str) -> str:
        is_greater = self._name(f"fcmp ogt {_FLOATS} {left}, {right}")
        return self._name(f"select <{LANES} x i1> {is_greater}, {_FLOATS} {left}, {_FLOATS} {right}")

    def _raise_two(self, exponents: str) -> str:
        call, rest = f"call {_FLOATS} @llvm.x86.avx512.mask", f"{_FLOATS} zeroinitializer, i16 -1, i32 4"
        above = self._name(f"{call}.reduce.ps.512({_FLOATS} {exponents}, i32 1, {rest})")
        power = self._hidden[_POWER[-1]]
        for coefficient in reversed(_POWER[:-1]):
            power = self._fuse(power, above, self._hidden[coefficient])
        return self._name(f"{call}.scalef.ps.512({_FLOATS} {power}, {_FLOATS} {exponents}, {rest})")

    def _multiply_values(self) -> None:
        for vector in range(VECTORS):
            self._lines.append(f"  call void @llvm.x86.tilezero(i8 {vector})")
        self._add(_SUM)
        self._load_tile(_LEFT, self._place("bfloat", "%scores", "%sum_key"), "%room_bytes")
        self._add_products(_LEFT, "%sum_right", 4 * self._width)
        self._add(_SUM_END, size=self._width * LANES)
        self._store_sums("%sums", TILE_BYTES * VECTORS)
        for row, vector in self._sums():
            place = self._place("float", "%sums", (row * VECTORS + vector) * LANES)
            self._lines.append(f"  %sum{row}_{vector}_next = load {_FLOATS}, ptr {place}, align 4")

    def _add_products(self, left: int, right: str, stride: object) -> None:
        """To both tiles of sums the products of a tile with two tiles side by side."""
        for vector in range(VECTORS):
            self._load_tile(_RIGHT + vector, self._place("i32", right, vector * LANES), stride)
        for vector in range(VECTORS):
            registers = f"i8 {vector}, i8 {left}, i8 {_RIGHT + vector}"
            self._lines.append(f"  call void @llvm.x86.tdpbf16ps({registers})")

    def _store_sums(self, place: str, stride: object) -> None:
        for vector in range(VECTORS):
            to = self._place("float", place, vector * LANES)
            self._lines.append(f"  call void @llvm.x86.tilestored64(i8 {vector}, ptr {to}, i64 {stride})")

    def _load_tile(self, register: int, place: str, stride: object) -> None:
        self._lines.append(f"  call void @llvm.x86.tileloadd64(i8 {register}, ptr {place}, i64 {stride})")


_LAST: Final = """  %last_tile = sub i64 %padded, {tile}
  %last_left = sub i64 %n, %last_tile"""

_SCORE: Final = """  br label %tile
tile:
  %key = phi i64 [0, %step], [%key_next, %score_end]
  %tile_keys = getelementptr i32, ptr %keys, i64 %key
  %is_last_tile = icmp eq i64 %key, %last_tile
  %score_start_at = select i1 %is_last_tile, i64 {tile}, i64 0
  %score_start = getelementptr float, ptr %starts, i64 %score_start_at"""

_KEEP_GREATEST: Final = """  %greatest_at = mul i64 %row, {lanes}
  %row_greatest = getelementptr float, ptr %sums, i64 %greatest_at
  store {floats} %greatest_next, ptr %row_greatest, align 4
  %row_next = add i64 %row, 1
  %weigh_more = icmp slt i64 %row_next, {rows}
  br i1 %weigh_more, label %weigh_row, label %greatest_all
greatest_all:"""

_POWERS_ROW: Final = """  %less = getelementptr float, ptr %shares, i64 {lanes}
  br label %powers_row
powers_row:
  %power_row = phi i64 [0, %greatest_all], [%power_row_next, %powers_end]
  %power_row_at = mul i64 %power_row, %room
  %power_scores = getelementptr float, ptr %scores, i64 %power_row_at"""

_KEEP_TOTALS: Final = """  %totals_at = mul i64 %power_row, {lanes}
  %row_totals = getelementptr float, ptr %sums, i64 %totals_at
  store {floats} %totals, ptr %row_totals, align 4
  %power_row_next = add i64 %power_row, 1
  %more_power_rows = icmp slt i64 %power_row_next, {rows}
  br i1 %more_power_rows, label %powers_row, label %weigh_end
weigh_end:"""

_SUM: Final = """  br label %sum_loop
sum_loop:
  %sum_key = phi i64 [0, %part], [%sum_key_next, %sum_loop]
  %sum_right = phi ptr [%part_values, %part], [%sum_right_next, %sum_loop]"""

_SUM_END: Final = """  %sum_right_next = getelementptr i32, ptr %sum_right, i64 {size}
  %sum_key_next = add i64 %sum_key, {tile}
  %sum_more = icmp slt i64 %sum_key_next, %padded
  br i1 %sum_more, label %sum_loop, label %sum_end
sum_end:"""
