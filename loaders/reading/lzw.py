"""What the Unix program `compress` (`.Z`) wrote, decompressed piece by piece.

A file is the bytes 1F 9D, a byte with the most bits a code has (9 to 16) and whether code 256 empties the
table, then codes of 9 bits and up, the lowest bit first, in groups of eight. Where the width changes, the
rest of a group is padding. There is no end mark and no checksum: nothing can tell that a file is cut between
two codes, or that a bit is changed.
"""

from typing import Final

import numpy as np

from pinakes.errors import OtherContentError

MAGIC: Final = b"\x1f\x9d"
_HEADER_BYTES: Final = 3
_BITS: Final = 0x1F
_CAN_CLEAR: Final = 0x80
_CLEAR: Final = 256
_FEWEST_BITS: Final = 9
_MOST_BITS: Final = 16
_GROUPS: Final = 64
"""groups of codes that are expanded at once: at most 33 MB, where each code stands for 64 KB"""
_LONGEST: Final = 1 << 10
"""Longer entries of the table are kept as a code and a byte, so that it takes 64 MB at the most."""


class LzwDecompressor:
    """A decompressor as the standard library's are, but that no input (`b""`) means the stream's end.

    `decompress` raises `OtherContentError` where the bytes are not of `compress`, `EOFError` where they end
    within a code, and `ValueError` for a code that cannot stand where it does.
    """

    unused_data: Final = b""

    def __init__(self, name: str) -> None:
        self.eof = False
        self._name = name
        self._held = b""  # compressed bytes; behind the header they begin with a group
        self._made: list[bytes] = []
        self._made_bytes = 0
        self._has_header = self._can_clear = self._is_ending = False
        self._most_codes = 0
        self._table: list[bytes | None] = []
        self._long: dict[int, tuple[int, int]] = {}
        self._previous = -1
        self._width = _FEWEST_BITS

    @property
    def needs_input(self) -> bool:
        """Whether nothing can be made of what was given."""
        return not (self._made or self._is_ending) and len(self._held) < self._group_bytes

    @property
    def _group_bytes(self) -> int:
        return self._width if self._has_header else _HEADER_BYTES

    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes:
        """The next bytes, `max_length` at the most."""
        if self.needs_input and not data:
            self._is_ending = True
        self._held += data
        if not self._has_header and not self._read_header():
            return b""
        most = max_length if max_length >= 0 else 1 << 62
        while self._made_bytes < most and len(self._held) >= self._width:
            self._expand(self._take_codes(min(len(self._held) // self._width, _GROUPS)))
        if self._is_ending and self._made_bytes < most and not self.eof:
            self._expand(self._take_last())
            self.eof = not self._made_bytes
        return self._hand_out(most)

    def _hand_out(self, most: int) -> bytes:
        whole = b"".join(self._made)
        given, rest = whole[:most], whole[most:]
        self._made, self._made_bytes = [rest] if rest else [], len(rest)
        return given

    def _read_header(self) -> bool:
        if len(self._held) < _HEADER_BYTES and not self._is_ending:
            return False
        head, self._held = self._held[:_HEADER_BYTES], self._held[_HEADER_BYTES:]
        if not MAGIC.startswith(head[:2]):
            raise OtherContentError(f"{self._name} is not what compress (.Z) writes.")
        if len(head) < _HEADER_BYTES:
            raise EOFError("its compressed stream ends too early")
        bits = head[2] & _BITS
        if not _FEWEST_BITS <= bits <= _MOST_BITS:
            raise ValueError(f"codes of {bits} bits, where {_FEWEST_BITS} to {_MOST_BITS} were expected")
        self._has_header = True
        self._can_clear = bool(head[2] & _CAN_CLEAR)
        self._most_codes = 1 << max(bits, _FEWEST_BITS + 1)  # the program takes 9 for 10
        self._clear()
        return True

    def _clear(self) -> None:
        self._table = [bytes((value,)) for value in range(_CLEAR)] + ([None] if self._can_clear else [])
        self._long = {}
        self._previous = -1
        self._width = _FEWEST_BITS

    def _take_codes(self, groups: int) -> list[int]:
        """Codes of so many groups, as far as they are of one width; what comes behind stays held."""
        room = self._count_room()
        if room is not None:
            groups = min(groups, -(-room // 8))
        size = groups * self._width
        codes = _unpack(self._held[:size], self._width)[:room]
        if self._can_clear and _CLEAR in codes:
            place = codes.index(_CLEAR)
            size = (place // 8 + 1) * self._width
            codes = codes[: place + 1]
        self._held = self._held[size:]
        return codes

    def _count_room(self) -> int | None:
        """How many codes come before the next has another width; None where none will."""
        if 1 << self._width >= self._most_codes:
            return None
        # The first code after the table was cleared makes no entry.
        return (1 << self._width) - len(self._table) + (self._previous < 0)

    def _take_last(self) -> list[int]:
        """The codes of the last group, which may be cut behind any of them."""
        held, width = self._held, self._width
        count, bits = divmod(8 * len(held), width)
        self._held = b""
        if bits >= 8 or (bits and held[-1] >> (8 - bits)):
            raise EOFError("its compressed stream ends too early")
        return _unpack(held + bytes(width), width)[:count][: self._count_room()]

    def _expand(self, codes: list[int]) -> None:
        """Put what the codes stand for behind what was made, and their entries into the table."""
        is_clear = self._can_clear and codes[-1:] == [_CLEAR]
        made = self._look_up(codes[:-1] if is_clear else codes)
        self._made += made
        self._made_bytes += sum(map(len, made))
        if is_clear:
            self._clear()
        elif len(self._table) >> self._width and 1 << self._width < self._most_codes:
            self._width += 1

    def _look_up(self, codes: list[int]) -> list[bytes]:
        table, made, most = self._table, list[bytes](), self._most_codes
        if not codes:
            return made
        previous = self._previous
        if previous < 0:
            previous, *codes = codes
            if previous >= _CLEAR:
                raise ValueError(f"code {previous} at the beginning")
            made.append(bytes((previous,)))
        if len(table) == most and not self._long:
            self._previous = codes[-1] if codes else previous
            return made + [table[code] or b"" for code in codes]
        before = self._spell(previous)
        for code in codes:
            size = len(table)
            if code < size:
                entry = table[code] or self._spell(code)
            elif code == size < most:
                entry = before + before[:1]
            else:
                raise ValueError(f"code {code}, of {size}")
            made.append(entry)
            if size < most:
                if len(before) < _LONGEST:
                    table.append(before + entry[:1])
                else:
                    table.append(None)
                    self._long[size] = previous, entry[0]
            previous, before = code, entry
        self._previous = previous
        return made

    def _spell(self, code: int) -> bytes:
        """What a code stands for."""
        tail = bytearray()
        while (head := self._table[code]) is None:
            code, last = self._long[code]
            tail.append(last)
        tail.reverse()
        return head + bytes(tail)


def _unpack(data: bytes, width: int) -> list[int]:
    """The codes of whole groups."""
    bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
    count = len(bits) // width
    whole = np.zeros((count, _MOST_BITS), np.uint8)
    whole[:, :width] = bits[: count * width].reshape(-1, width)
    found: list[int] = np.packbits(whole, axis=1, bitorder="little").view("<u2").ravel().tolist()
    return found
