"""Records out of JSON: lines, whole documents, and one big array or object, a record at a time."""

import codecs
import json
import math
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import IO, Any, Final

import orjson

from pinakes.errors import OtherContentError
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.breaks import BrokenStreamError, Salvaged
from pinakes.loaders.reading.documents import open_documents
from pinakes.loaders.reading.streams import (
    RAW_BYTES,
    CutLine,
    decode_utf8,
    open_stream,
    read_lines_at,
    read_text,
    split_stream,
)
from pinakes.loaders.reading.values import expect_object
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows, show_raw, take_record

MAX_MEMBER_BYTES: Final = 64 << 20
_READ_BYTES: Final = 1 << 18
_HEAD_BYTES: Final = 1 << 12
_BLANK: Final = b" \t\r\n"
# No group repeats possessively: before Python 3.11.5 one that fails half-way does not go back (gh-106052).
_STRING: Final = rb'[^"\\]*+(?:\\.[^"\\]*+)*'
"""a string after its opening quote, up to the closing one or as far as it has been read"""
_PLAIN: Final = re.compile(rb'[^"\[\]{}]*+(?:"%b"[^"\[\]{}]*+)*' % _STRING, re.DOTALL)
"""what opens and closes nothing: anything but brackets, whole strings included"""
_PLAIN_OUTSIDE: Final = re.compile(rb'[^"\[\]{},]*+(?:"%b"[^"\[\]{},]*+)*' % _STRING, re.DOTALL)
"""the same, up to a comma"""
_STRING_REST: Final = re.compile(_STRING, re.DOTALL)
_KEY: Final = re.compile(rb'"(%b)"\s*:' % _STRING, re.DOTALL)
_MOST_DIGITS: Final = 300
_CLOSING: Final = {b"[": b"]", b"{": b"}"}


def read_json(file: InputFile) -> dict[str, Any]:
    """The JSON object that the file is; a number that no float holds costs its own record, not the file."""
    text = read_text(file)
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        try:
            document = json.loads(text, parse_int=_take_digits)
        except (ValueError, RecursionError):
            raise OtherContentError(f"{file.name} is not JSON: {error}.") from error
    if not isinstance(document, dict):
        raise OtherContentError(f"{file.name} is a JSON {type(document).__name__}; expected an object.")
    return document


def _take_digits(digits: str) -> int | float:
    """A whole number of JSON; infinite where Python converts no number of so many digits."""
    return int(digits) if len(digits) <= _MOST_DIGITS else math.inf


def read_json_lines(
    file: InputFile, parse: Callable[[dict[str, Any]], Rows]
) -> Iterator[Accepted | Rejected]:
    """The records of a JSON Lines file: what `parse` makes of each object; anything else is rejected.

    A file that is one JSON array of objects is read as `read_json_array` does.
    """
    if is_json_array(file):
        yield from read_json_array(file, parse)
        return
    for number, first_byte, line in read_lines_at(file):
        parse_line = partial(_parse_json_line, line, parse)
        yield take_record(number, f"line {number}", line, parse_line, first_byte)


def is_json_array(file: InputFile) -> bool:
    """Whether a file begins as a JSON array of objects does; False where it cannot be read so far."""
    try:
        with open_stream(file) as stream:
            head = Salvaged(stream).read(_HEAD_BYTES).removeprefix(codecs.BOM_UTF8).lstrip(_BLANK)
    except BrokenStreamError:
        return False  # whoever reads it says how far it is whole
    return head[:1] == b"[" and head[1:].lstrip(_BLANK)[:1] in (b"{", b"]")


def _parse_json_line(line: bytes, parse: Callable[[dict[str, Any]], Rows]) -> Rows:
    return parse(parse_json_object(line))


def read_json_line_files(
    file: InputFile, parse: Callable[[dict[str, Any]], Rows]
) -> Iterator[Accepted | Rejected]:
    """The records of a file with JSON lines, or of those entries of an archive that are its documents."""
    if not file.documents:
        yield from read_json_lines(file, parse)
        return
    numbers = count(1)
    for name, stream in open_documents(file):
        with stream:
            yield from _read_member(name, stream, numbers, parse)


def _read_member(
    name: str, stream: IO[bytes], numbers: Iterator[int], parse: Callable[[dict[str, Any]], Rows]
) -> Iterator[Accepted | Rejected]:
    for line_number, _, whole in split_stream(stream):
        line = whole if isinstance(whole, CutLine) else whole.rstrip(b"\r\n")
        if line.strip():
            location = f"{name}: line {line_number}"
            yield take_record(next(numbers), location, line, partial(_parse_json_line, line, parse))


def parse_json_object(raw: bytes) -> dict[str, Any]:
    """The JSON object that the bytes are."""
    try:
        value = orjson.loads(raw) if not isinstance(raw, CutLine) else None
    except orjson.JSONDecodeError as error:
        decode_utf8(raw)  # which says so where it is no UTF-8
        if raw.strip() in _CLOSING:
            said = "the record goes on in the next line; expected one line a record, as `jq -c .` writes them"
            raise RecordError("not_json", said) from error
        raise RecordError("not_json", str(error)) from error
    if isinstance(raw, CutLine):
        decode_utf8(raw)
    return expect_object(value)


def read_json_array(
    file: InputFile, parse: Callable[[dict[str, Any]], Rows]
) -> Iterator[Accepted | Rejected]:
    """The records of a JSON array of objects, or of an object whose values are objects.

    A value that is no object is rejected. Where the file breaks off, what came before is kept and the rest is
    one rejected record. Locations: `[0]`, `[1]`, …; of an object, the key.
    """
    return read_json_members(file, lambda _key, value: parse(expect_object(value)))


def read_json_members(file: InputFile, parse: Callable[[str, Any], Rows]) -> Iterator[Accepted | Rejected]:
    """The records of a JSON array (`parse` gets "0", "1", … and the value) or object (its key and value)."""
    with open_stream(file) as stream:
        splitter = _Splitter(stream)
        opening = splitter.find_opening()
        if opening not in _CLOSING:
            raise OtherContentError(f"{file.name} is not JSON, or neither an array nor an object.")
        is_object = opening == b"{"
        number = 0
        for number, (first_byte, raw) in enumerate(splitter.split(_CLOSING[opening]), start=1):
            location = _locate(raw, is_object, number)
            parse_raw = partial(_parse_member, raw, is_object, number, parse)
            yield take_record(number, location, raw, parse_raw, first_byte)
        if splitter.fault:
            shown = show_raw(splitter.rest)
            yield Rejected(number + 1, f"after {number} records", "not_json", splitter.fault, shown)


def _locate(raw: bytes, is_object: bool, number: int) -> str:
    found = _KEY.match(raw) if is_object else None
    return f"[{number - 1}]" if found is None else f".{show_raw(found[1])}"


def _parse_member(raw: bytes, is_object: bool, number: int, parse: Callable[[str, Any], Rows]) -> Rows:
    if isinstance(raw, CutLine):
        raise RecordError("too_large", f"the value has more than {MAX_MEMBER_BYTES} bytes")
    decode_utf8(raw)
    try:
        value = orjson.loads(b"{%b}" % raw if is_object else raw)
    except orjson.JSONDecodeError as error:
        raise RecordError("not_json", str(error)) from error
    if not is_object:
        return parse(str(number - 1), value)
    if len(value) != 1:
        raise RecordError("not_json", f"expected one key and one value, found {len(value)}")
    ((key, member),) = value.items()
    return parse(key, member)


class _Splitter:
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
        while not self._buffer.lstrip(_BLANK):
            more = self._stream.read(_READ_BYTES)
            if not more:
                return b""
            self._buffer_byte += len(self._buffer) + len(more)
            self._buffer = more.removeprefix(codecs.BOM_UTF8)
            self._buffer_byte -= len(self._buffer)
        text = self._buffer.lstrip(_BLANK)
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
        member = self._buffer[self._start : self._position - 1].lstrip(_BLANK)
        first_byte = self._buffer_byte + self._position - 1 - len(member)
        found = (first_byte, member.rstrip(_BLANK)) if self._cut is None else (self._cut_byte, self._cut)
        self._start, self._cut = self._position, None
        return found

    def _check_end(self, mark: bytes, closing: bytes) -> None:
        """Say what is wrong with the end, and read on to the file's end, where checksums are."""
        rest = self._buffer[self._start :].lstrip(_BLANK)
        while more := self._stream.read(_READ_BYTES):
            rest = rest or more.lstrip(_BLANK)
        if mark != closing or rest:
            self.fault = "something follows the end of the JSON" if rest else "a bracket does not match"
            self.rest = rest[:RAW_BYTES]
