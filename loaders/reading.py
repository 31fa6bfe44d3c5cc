"""Bytes to records: opening plain and gzipped files, lines, JSON lines, and the digest of a file.

Leaves out: archives (`archives`) and what a record means (each format's own module).
"""

import codecs
import gzip
import hashlib
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

import orjson

from pinakes.errors import InputError, LoadError
from pinakes.loaders.archives import open_member
from pinakes.loaders.base import InputFile
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows, take_record


def find_file(folder: Path, name: str) -> Path:
    """The file of that name in the folder, plain or gzipped.

    Raises:
        InputError: there is none.
    """
    for candidate in (folder / name, folder / f"{name}.gz"):
        if candidate.is_file():
            return candidate
    raise InputError(f"{folder} has no {name} and no {name}.gz; expected the files as they are published.")


def digest_file(path: Path) -> str:
    """The sha256 of a file's bytes, in hex.

    Raises:
        InputError: there is no such file, or it cannot be read.
    """
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise _explain_unreadable(path, error) from error


def open_stream(file: InputFile) -> IO[bytes]:
    """The file's bytes, decompressed where its name ends in `.gz` or it is an archive's entry.

    Raises:
        InputError: there is no such file, or it cannot be read.
        LoadError: the file's name ends in `.gz`, and it is empty.
    """
    if file.path is None:
        raise InputError(f"{file.name} is not a file on disk.")
    if file.member is not None:
        return open_member(file.path, file.member)
    try:
        if file.path.suffix != ".gz":
            return file.path.open("rb")
        if file.path.stat().st_size == 0:  # which gzip would take for an empty file, rightly compressed
            raise LoadError(
                f"{file.name} is cut short: it is empty, and should be compressed. Fetch it again."
            )
        return cast(IO[bytes], gzip.open(file.path, "rb"))
    except OSError as error:
        raise _explain_unreadable(file.path, error) from error


def _explain_unreadable(path: Path, error: OSError) -> InputError:
    if isinstance(error, FileNotFoundError):
        return InputError(f"there is no file {path}.")
    return InputError(f"{path} cannot be read: {error.strerror or error}.")


def read_lines(file: InputFile) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers from 1, without line ends and byte order mark.

    Empty lines are left out.

    Raises:
        InputError: there is no such file, or it cannot be read.
        LoadError: the compressed stream ends too early or is damaged.
    """
    number = 0
    try:
        with open_stream(file) as stream:
            for number, line in enumerate(stream, start=1):
                stripped = line.rstrip(b"\r\n")
                if number == 1:
                    stripped = stripped.removeprefix(codecs.BOM_UTF8)
                if stripped.strip():
                    yield number, stripped
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise LoadError(
            f"{file.name} is damaged or cut short: its compressed stream breaks off after line {number}. "
            "Fetch the file again and start the same load; what is in already stays."
        ) from error


def read_text(file: InputFile) -> str:
    """The whole file as text, for formats that are one small document.

    Raises:
        InputError: the bytes are not UTF-8.
        LoadError: the compressed stream ends too early.
    """
    content = b"\n".join(line for _, line in read_lines(file))
    try:
        return content.decode("utf-8")
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
    for number, line in read_lines(file):
        yield take_record(number, f"line {number}", line, partial(_parse_json_line, line, parse))


def _parse_json_line(line: bytes, parse: Callable[[dict[str, Any]], Rows]) -> Rows:
    decode_utf8(line)
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise RecordError("not_json", str(error)) from error
    if not isinstance(value, dict):
        raise RecordError("not_an_object", f"a JSON {type(value).__name__}, expected an object")
    return parse(value)


def decode_utf8(raw: bytes) -> str:
    """The bytes as text.

    Raises:
        RecordError: they are not UTF-8.
    """
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RecordError("invalid_utf8", f"byte {error.start + 1} is not UTF-8") from error


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
