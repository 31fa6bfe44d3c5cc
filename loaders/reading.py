"""Bytes to records: opening plain and gzipped files, lines, JSON lines, and the digest of a file.

Leaves out: archives (`archives`) and what a record means (each format's own module).
"""

import gzip
import hashlib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import orjson

from pinakes.errors import InputError, LoadError
from pinakes.loaders.archives import open_member
from pinakes.loaders.base import InputFile
from pinakes.loaders.staging import Reason, Rejected

_BLOCK = 1 << 20


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
        InputError: there is no such file.
    """
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except FileNotFoundError as error:
        raise InputError(f"there is no file {path}.") from error


def open_stream(file: InputFile) -> IO[bytes]:
    """The file's bytes, decompressed where its name ends in `.gz` or it is an archive's entry."""
    if file.path is None:
        raise InputError(f"{file.name} is not a file on disk.")
    if file.member is not None:
        return open_member(file.path, file.member)
    if file.path.suffix == ".gz":
        return gzip.open(file.path, "rb")
    return file.path.open("rb")


def read_lines(file: InputFile) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers from 1, without line ends; empty lines are left out.

    Raises:
        LoadError: the compressed stream ends too early or is damaged.
    """
    number = 0
    try:
        with open_stream(file) as stream:
            for number, line in enumerate(stream, start=1):
                stripped = line.rstrip(b"\r\n")
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


def read_json(file: InputFile) -> Any:
    """The JSON document that the file is.

    Raises:
        InputError: it is not JSON.
    """
    try:
        return orjson.loads(read_text(file))
    except orjson.JSONDecodeError as error:
        raise InputError(f"{file.name} is not JSON: {error}.") from error


def read_text_lines(file: InputFile) -> Iterator[tuple[int, str] | Rejected]:
    """The lines of a file as text; a line that is not UTF-8 comes as a rejected row."""
    for number, line in read_lines(file):
        try:
            yield number, line.decode("utf-8")
        except UnicodeDecodeError as error:
            yield reject_line(number, "invalid_utf8", f"byte {error.start + 1} is not UTF-8", line)


def read_json_lines(file: InputFile) -> Iterator[tuple[int, dict[str, Any]] | Rejected]:
    """The objects of a JSON Lines file; whatever is no object comes as a rejected row."""
    for number, line in read_lines(file):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            yield reject_line(number, "invalid_utf8", f"byte {error.start + 1} is not UTF-8", line)
            continue
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            yield reject_line(number, "not_json", str(error), line)
            continue
        if isinstance(value, dict):
            yield number, value
        else:
            kind = type(value).__name__
            yield reject_line(number, "not_an_object", f"a JSON {kind}, expected an object", line)


def reject_line(number: int, reason: Reason, message: str, raw: bytes | str) -> Rejected:
    """A rejected line, its raw text kept; bytes that are not UTF-8 are escaped."""
    text = raw.decode("utf-8", "backslashreplace") if isinstance(raw, bytes) else raw
    return Rejected(number, f"line {number}", reason, message, text)


def clean_text(value: object) -> str | None:
    """A text without surrounding white space; None where nothing is left.

    >>> clean_text("  A title ")
    'A title'
    >>> clean_text("  ") is None
    True
    """
    if value is None:
        return None
    return str(value).strip() or None
