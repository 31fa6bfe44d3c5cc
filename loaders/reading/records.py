"""Bytes to records: lines, JSON lines, JSON documents and arrays of them, whole texts."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import orjson

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.json_members import read_json_array, read_json_members
from pinakes.loaders.reading.streams import (
    CutLine,
    decode_utf8,
    digest_file,
    find_file,
    open_stream,
    read_lines_at,
)
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows, take_record

__all__ = [
    "clean_text",
    "decode_utf8",
    "digest_file",
    "find_file",
    "open_stream",
    "parse_json_object",
    "read_json",
    "read_json_array",
    "read_json_lines",
    "read_json_members",
    "read_lines",
    "read_lines_at",
    "read_text",
]


def read_lines(file: InputFile) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers from 1, without line ends and byte order mark.

    Empty lines are left out. A line that is too large comes cut, and `decode_utf8` rejects it.

    Raises:
        InputError: there is no such file, or it cannot be read.
        LoadError: the compressed stream ends too early or is damaged.
    """
    for number, _, line in read_lines_at(file):
        yield number, line


def read_text(file: InputFile) -> str:
    """The whole file as text, for formats that are one small document.

    Raises:
        InputError: the bytes are not UTF-8, or a line is too large.
        LoadError: the compressed stream ends too early.
    """
    lines = []
    for number, line in read_lines(file):
        if isinstance(line, CutLine):
            raise InputError(f"{file.name}: line {number} is too large; expected a small document.")
        lines.append(line)
    try:
        return b"\n".join(lines).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{file.name} is not UTF-8 (byte {error.start}); expected UTF-8.") from error


def read_json(file: InputFile) -> dict[str, Any]:
    """The JSON object that the file is.

    Raises:
        InputError: it is not JSON, or no object.
    """
    try:
        document = orjson.loads(read_text(file))
    except orjson.JSONDecodeError as error:
        raise InputError(f"{file.name} is not JSON: {error}.") from error
    if not isinstance(document, dict):
        raise InputError(f"{file.name} is a JSON {type(document).__name__}; expected an object.")
    return document


def read_json_lines(
    file: InputFile, parse: Callable[[dict[str, Any]], Rows]
) -> Iterator[Accepted | Rejected]:
    """The records of a JSON Lines file: what `parse` makes of each object; anything else is rejected."""
    for number, first_byte, line in read_lines_at(file):
        parse_line = partial(_parse_json_line, line, parse)
        yield take_record(number, f"line {number}", line, parse_line, first_byte)


def _parse_json_line(line: bytes, parse: Callable[[dict[str, Any]], Rows]) -> Rows:
    return parse(parse_json_object(line))


def parse_json_object(raw: bytes) -> dict[str, Any]:
    """The JSON object that the bytes are.

    Raises:
        RecordError: they are not UTF-8, not JSON, or no object.
    """
    try:
        value = orjson.loads(raw) if not isinstance(raw, CutLine) else None
    except orjson.JSONDecodeError as error:
        decode_utf8(raw)  # which says so where it is no UTF-8
        raise RecordError("not_json", str(error)) from error
    if isinstance(raw, CutLine):
        decode_utf8(raw)
    if not isinstance(value, dict):
        raise RecordError("not_an_object", f"a JSON {type(value).__name__}, expected an object")
    return value


def clean_text(value: object) -> str | None:
    """A text, or a number as text, without surrounding white space; None where nothing is left.

    Raises:
        RecordError: the value is neither.

    >>> clean_text("  A title "), clean_text(12)
    ('A title', '12')
    >>> clean_text("  ") is None
    True
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise RecordError("invalid_value", f"expected a text, found {value!r:.80}")
    return str(value).strip() or None
