"""Records out of JSON: lines, whole documents, and one big array or object, a record at a time."""

import codecs
import json
import math
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from typing import IO, Any, Final

import orjson

from pinakes.errors import OtherContentError
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.breaks import BrokenStreamError, Salvaged, look_ahead
from pinakes.loaders.reading.documents import open_documents
from pinakes.loaders.reading.json_splitter import (
    BLANK,
    CLOSING,
    MAX_MEMBER_BYTES,
    STRING,
    Splitter,
)
from pinakes.loaders.reading.streams import (
    CutLine,
    decode_utf8,
    open_stream,
    read_lines_at,
    read_text,
    split_stream,
)
from pinakes.loaders.reading.values import expect_object
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows, show_raw, take_record

_HEAD_BYTES: Final = 1 << 12
_KEY: Final = re.compile(rb'"(%b)"\s*:' % STRING, re.DOTALL)
_FIRST_KEY: Final = re.compile(rb'[ \t\r\n]*\{[ \t\r\n]*"(%b)"[ \t\r\n]*:' % STRING, re.DOTALL)
_MOST_DIGITS: Final = 300


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


def show_json(value: Any) -> bytes:
    """The JSON of what `read_json` gave, for a rejected record; halves of surrogate pairs are escaped.

    >>> show_json({"id": "a"}), show_json({"id": chr(0xD800)})
    (b'{"id":"a"}', b'{"id": "\\\\ud800"}')
    """
    try:
        return orjson.dumps(value)
    except TypeError:
        pass
    try:
        return json.dumps(value).encode()
    except RecursionError:
        return b"(too deep to be shown)"


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
    return _begins_array(_read_head(file))


def begins_with_key(file: InputFile, keys: Collection[bytes]) -> bool:
    """Whether a file begins as a JSON object whose first key is one of these, as far as it can be read."""
    found = _FIRST_KEY.match(_read_head(file).removeprefix(codecs.BOM_UTF8))
    return found is not None and found[1] in keys


def _read_head(file: InputFile) -> bytes:
    """The first bytes of a file; empty where it cannot be read so far, which whoever reads it all says."""
    try:
        with open_stream(file) as stream:
            return Salvaged(stream).read(_HEAD_BYTES)
    except BrokenStreamError:
        return b""


def _begins_array(head: bytes) -> bool:
    head = head.removeprefix(codecs.BOM_UTF8).lstrip(BLANK)
    return head[:1] == b"[" and head[1:].lstrip(BLANK)[:1] in (b"{", b"]")


def _parse_json_line(line: bytes, parse: Callable[[dict[str, Any]], Rows]) -> Rows:
    return parse(parse_json_object(line))


def read_json_line_files(
    file: InputFile, parse: Callable[[dict[str, Any]], Rows]
) -> Iterator[Accepted | Rejected]:
    """The records of a file with JSON lines, or of those entries of an archive that are its documents.

    A file or an entry that is one JSON array of objects is read member by member.
    """
    if not file.documents:
        yield from read_json_lines(file, parse)
        return
    numbers = count(1)
    for name, opened in open_documents(file):
        with opened:
            head, stream = look_ahead(opened, _HEAD_BYTES)
            read = _read_array_entry if _begins_array(head) else _read_line_entry
            yield from read(name, stream, numbers, parse)


def _read_line_entry(
    name: str, stream: IO[bytes], numbers: Iterator[int], parse: Callable[[dict[str, Any]], Rows]
) -> Iterator[Accepted | Rejected]:
    for line_number, _, whole in split_stream(stream):
        line = whole if isinstance(whole, CutLine) else whole.rstrip(b"\r\n")
        if line_number == 1 and not isinstance(whole, CutLine):
            line = line.removeprefix(codecs.BOM_UTF8)
        if line.strip():
            location = f"{name}: line {line_number}"
            yield take_record(next(numbers), location, line, partial(_parse_json_line, line, parse))


def _read_array_entry(
    name: str, stream: IO[bytes], numbers: Iterator[int], parse: Callable[[dict[str, Any]], Rows]
) -> Iterator[Accepted | Rejected]:
    for record in _split_members(name, stream, lambda _key, value: parse(expect_object(value))):
        number, location = next(numbers), f"{name}: {record.location}"
        # No byte says where an entry stands in its archive.
        if isinstance(record, Rejected):
            yield replace(record, row_number=number, location=location, first_byte=None, end_byte=None)
        else:
            yield replace(record, row_number=number, location=location, first_byte=None)


def read_json_answers(
    file: InputFile, name: str, parse: Callable[[dict[str, Any]], Rows]
) -> Iterator[Accepted | Rejected]:
    """The records of an API's answers: the members of each one's list `name`.

    The file is one answer, or has one a line. An answer without that list is a record itself.
    Locations: `results[0]`, `line 2: results[0]`; of an answer itself its line.
    """
    numbers = count(1)
    if not _has_answer_a_line(file):
        yield from _read_answer("", read_json(file), name, numbers, parse)
        return
    for line_number, first_byte, line in read_lines_at(file):
        try:
            answer = parse_json_object(line)
        except RecordError as error:
            number, location, end = next(numbers), f"line {line_number}", first_byte + len(line)
            yield Rejected(number, location, error.reason, str(error), show_raw(line), first_byte, end)
        else:
            yield from _read_answer(f"line {line_number}", answer, name, numbers, parse)


def _has_answer_a_line(file: InputFile) -> bool:
    """Whether the first line is an object by itself, and not all of the file."""
    lines = read_lines_at(file)
    try:
        parse_json_object(next(lines, (0, 0, b""))[2])
    except RecordError:
        return False
    return next(lines, None) is not None


def _read_answer(
    place: str,
    answer: dict[str, Any],
    name: str,
    numbers: Iterator[int],
    parse: Callable[[dict[str, Any]], Rows],
) -> Iterator[Accepted | Rejected]:
    found = answer.get(name)
    members: list[tuple[str, Any]] = [("", answer)]
    if isinstance(found, list):
        members = [(f"{name}[{position}]", member) for position, member in enumerate(found)]
    for where, member in members:
        location = ": ".join(filter(None, (place, where))) or "line 1"
        yield take_record(next(numbers), location, show_json(member), partial(_parse_object, member, parse))


def _parse_object(value: object, parse: Callable[[dict[str, Any]], Rows]) -> Rows:
    return parse(expect_object(value))


def parse_json_object(raw: bytes) -> dict[str, Any]:
    """The JSON object that the bytes are."""
    try:
        value = orjson.loads(raw) if not isinstance(raw, CutLine) else None
    except orjson.JSONDecodeError as error:
        decode_utf8(raw)  # which says so where it is no UTF-8
        if raw.strip() in CLOSING:
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
        yield from _split_members(file.name, stream, parse)


def _split_members(
    name: str, stream: IO[bytes], parse: Callable[[str, Any], Rows]
) -> Iterator[Accepted | Rejected]:
    splitter = Splitter(stream)
    opening = splitter.find_opening()
    if opening not in CLOSING:
        raise OtherContentError(f"{name} is not JSON, or neither an array nor an object.")
    is_object = opening == b"{"
    number = 0
    for number, (first_byte, raw) in enumerate(splitter.split(CLOSING[opening]), start=1):
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
