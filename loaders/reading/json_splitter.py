"""One big JSON array or object, cut into its members as it is read."""

import codecs
import re
from collections.abc import Iterator
from typing import IO, Final

from pinakes.loaders.reading.breaks import Salvaged
from pinakes.loaders.reading.streams import RAW_BYTES, CutLine

MAX_MEMBER_BYTES: Final = 64 << 20
_READ_BYTES: Final = 1 << 18
BLANK: Final = b" \t\r\n"
# No group repeats possessively: before Python 3.11.5 one that fails half-way does not go back (gh-106052).
STRING: Final = rb'[^"\\]*+(?:\\.[^"\\]*+)*'
"""a string after its opening quote, up to the closing one or as far as it has been read"""
_PLAIN: Final = re.compile(rb'[^"\[\]{}]*+(?:"%b"[^"\[\]{}]*+)*' % STRING, re.DOTALL)
"""what opens and closes nothing: anything but brackets, whole strings included"""
_PLAIN_OUTSIDE: Final = re.compile(rb'[^"\[\]{},]*+(?:"%b"[^"\[\]{},]*+)*' % STRING, re.DOTALL)
"""the same, up to a comma"""
_STRING_REST: Final = re.compile(STRING, re.DOTALL)
CLOSING: Final = {b"[": b"]", b"{": b"}"}


class Splitter:
    """Cuts the outermost array or object at its commas.

    Attributes:
        fault: how the outermost value ended, if not as it should.
        rest: the first bytes of what could not be cut.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self.fault = ""
        self.rest = b""
        self._stream = Salvaged(stream)
        self._buffer = b""
        self._buffer_byte = 0  # where in the file the buffer begins
        self._start = 0  # of the member
        self._cut_byte = 0
        self._position = 0
        self._cut: CutLine | None = None

    def find_opening(self) -> bytes:
        """The first character, which is taken off; empty at the end of the file."""
        while not self._buffer.lstrip(BLANK):
            more = self._stream.read(_READ_BYTES)
            if not more:
                return b""
            self._buffer_byte += len(self._buffer) + len(more)
            self._buffer = more.removeprefix(codecs.BOM_UTF8)
            self._buffer_byte -= len(self._buffer)
        text = self._buffer.lstrip(BLANK)
        self._buffer_byte += len(self._buffer) - len(text) + 1
        self._buffer = text[1:]
        return text[:1]

    def split(self, closing: bytes) -> Iterator[tuple[int, bytes]]:
        """The members' first bytes and they themselves, as they stand, without white space around them.

        One that is too large is a `CutLine`.
        """
        is_first = True
        while (mark := self._find_boundary()) is not None:
            first_byte, member = self._take_member()
            is_end = mark != b","
            if member or not (is_first and is_end):
                yield first_byte, member
            is_first = False
            if is_end:
                self._check_end(mark, closing)
                return
        self.fault = "the file ends before its JSON does"
        self.rest = self._cut or self._buffer[self._start :][:RAW_BYTES]

    def _find_boundary(self) -> bytes | None:
        """The comma or closing bracket at which the member ends; None at the end of the file."""
        depth = 0
        while True:
            plain = _PLAIN if depth else _PLAIN_OUTSIDE
            found = plain.match(self._buffer, self._position)
            self._position = found.end() if found else self._position
            mark = self._buffer[self._position : self._position + 1]
            if not mark:
                if not self._read_more():
                    return None
                continue
            self._position += 1
            if mark == b'"':
                if not self._pass_string():
                    return None
            elif mark in b"[{":
                depth += 1
            elif depth == 0:
                return mark
            else:
                depth -= 1

    def _pass_string(self) -> bool:
        """Whether the string that has begun ends."""
        while True:
            found = _STRING_REST.match(self._buffer, self._position)
            self._position = found.end() if found else self._position
            if self._buffer[self._position : self._position + 1] == b'"':
                self._position += 1
                return True
            if not self._read_more():
                return False

    def _read_more(self) -> bool:
        """Whether more bytes came; what is not needed any more is let go."""
        pending = len(self._buffer) - self._start
        # As much again as is there already, or a long member would be copied over and over.
        more = self._stream.read(max(_READ_BYTES, pending))
        if self._cut is None and pending > MAX_MEMBER_BYTES:
            self._cut = CutLine(self._buffer[self._start :][:RAW_BYTES])
            self._cut_byte = self._buffer_byte + self._start
        kept = self._start if self._cut is None else self._position
        self._buffer = self._buffer[kept:] + more
        self._buffer_byte += kept
        self._position -= kept
        self._start = 0
        return bool(more)

    def _take_member(self) -> tuple[int, bytes]:
        member = self._buffer[self._start : self._position - 1].lstrip(BLANK)
        first_byte = self._buffer_byte + self._position - 1 - len(member)
        found = (first_byte, member.rstrip(BLANK)) if self._cut is None else (self._cut_byte, self._cut)
        self._start, self._cut = self._position, None
        return found

    def _check_end(self, mark: bytes, closing: bytes) -> None:
        """Say what is wrong with the end, and read on to the file's end, where checksums are."""
        rest = self._buffer[self._start :].lstrip(BLANK)
        while more := self._stream.read(_READ_BYTES):
            rest = rest or more.lstrip(BLANK)
        if mark != closing or rest:
            self.fault = "something follows the end of the JSON" if rest else "a bracket does not match"
            self.rest = rest[:RAW_BYTES]
