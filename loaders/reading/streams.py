"""Files opened, decompressed, digested and cut into lines."""

import codecs
import hashlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, Final

from pinakes.errors import InputError, LoadError, OtherContentError
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.archives import is_archive, open_member
from pinakes.loaders.reading.breaks import BrokenStreamError, explain_break
from pinakes.loaders.reading.compression import (
    COMPRESSIONS,
    decompress,
    explain_unreadable,
    find_compression,
)
from pinakes.loaders.staging import RecordError

MAX_LINE_BYTES: Final = 64 << 20
RAW_BYTES: Final = 1_000
"""How much of a record that is too large is kept to show it."""


class CutLine(bytes):
    """The first `RAW_BYTES` of a line longer than `MAX_LINE_BYTES`; `decode_utf8` rejects it."""


def find_file(folder: Path, name: str) -> Path:
    """The file of that name in the folder, plain or compressed."""
    found = find_packed(folder / name)
    if found is None:
        raise InputError(
            f"{folder} has no {name} and no {name}.gz; expected the files as they are published."
        )
    return found


def find_packed(path: Path) -> Path | None:
    """The file of that name, plain or compressed; None where there is none."""
    candidates = (path.with_name(f"{path.name}{suffix}") for suffix in ("", *COMPRESSIONS))
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def digest_files(*paths: Path) -> str:
    """One digest of several files, as for an input file that is read together with others."""
    joined = ":".join(digest_file(path) for path in paths)
    return hashlib.sha256(joined.encode()).hexdigest()


def digest_file(path: Path) -> str:
    """The sha256 of a file's bytes, in hex."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise explain_unreadable(path, error) from error


def open_stream(file: InputFile) -> IO[bytes]:
    """The file's bytes, or its archive entry's; decompressed where the name says that they are compressed.

    A tar archive itself is only decompressed.

    Raises:
        InputError: there is no such file, or it cannot be read; while reading: it is a decompression bomb.
        LoadError: while reading: the stream is damaged or cut short.
    """
    path = file.expect_path()
    if file.member is not None:
        stream = open_member(path, file.member)
        return stream if is_archive(Path(file.member)) else decompress(stream, file.member)
    try:
        # An empty file is cut short too, but a decompressor could not say more than that it ends too early.
        if find_compression(path.name) and path.stat().st_size == 0:
            raise LoadError(
                f"{file.name} is cut short: it is empty, and should be compressed. Fetch it again."
            )
        return decompress(path.open("rb"), path.name)
    except OSError as error:
        raise explain_unreadable(path, error) from error


def is_parquet(file: InputFile) -> bool:
    """Whether the file begins as Parquet does, and so is damaged where it cannot be opened."""
    with open_stream(file) as stream:
        return stream.read(4) == b"PAR1"


def split_lines(file: InputFile) -> Iterator[tuple[int, int, bytes]]:
    """Each line, its end included: its number from 1, the offset of its first byte, its bytes.

    Offsets count the decompressed bytes. A line ends with LF or CR LF; a CR alone ends none. A line beyond
    `MAX_LINE_BYTES` comes as a `CutLine`, and the next line follows it.

    Raises:
        InputError: there is no such file, or it cannot be read.
        LoadError: the stream ends too early or is damaged; the lines before that come first.
    """
    number = 0
    try:
        with open_stream(file) as stream:
            for number, offset, line in split_stream(stream):
                yield number, offset, line
    except BrokenStreamError as error:
        raise explain_break(error, f"after line {number}", file.name) from error
    except OSError as error:
        raise InputError(f"{file.name} cannot be read: {error.strerror or error}.") from error


def split_stream(stream: IO[bytes]) -> Iterator[tuple[int, int, bytes]]:
    """Each line of an open stream, as `split_lines` gives those of a file."""
    offset = 0
    for number, line in enumerate(iter(partial(stream.readline, MAX_LINE_BYTES), b""), start=1):
        if len(line) < MAX_LINE_BYTES or line.endswith(b"\n"):
            yield number, offset, line
            offset += len(line)
        else:
            yield number, offset, CutLine(line[:RAW_BYTES])
            offset += len(line) + _pass_over_line(stream)


def _pass_over_line(stream: IO[bytes]) -> int:
    """How many bytes were passed over up to the line's end."""
    passed = 0
    for part in iter(partial(stream.readline, MAX_LINE_BYTES), b""):
        passed += len(part)
        if part.endswith(b"\n"):
            break
    return passed


def read_lines_at(file: InputFile) -> Iterator[tuple[int, int, bytes]]:
    """The lines of a file: number from 1, offset of the first byte, bytes without line end and BOM.

    Empty lines are left out; what it raises is what `split_lines` raises.
    """
    for number, offset, line in split_lines(file):
        if isinstance(line, CutLine):
            yield number, offset, line
            continue
        stripped = line.rstrip(b"\r\n")
        if number == 1:
            stripped = stripped.removeprefix(codecs.BOM_UTF8)
        if stripped.strip():
            yield number, offset, stripped


def decode_utf8(raw: bytes) -> str:
    """The bytes as text."""
    if isinstance(raw, CutLine):
        raise RecordError("too_large", f"the line has more than {MAX_LINE_BYTES} bytes")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RecordError("invalid_utf8", f"byte {error.start + 1} is not UTF-8") from error


def read_lines(file: InputFile) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers from 1, without line ends and byte order mark.

    Empty lines are left out. A line that is too large comes cut, and `decode_utf8` rejects it.
    """
    for number, _, line in read_lines_at(file):
        yield number, line


def read_text(file: InputFile) -> str:
    """The whole file as text, for formats that are one small document."""
    lines = []
    for number, line in read_lines(file):
        if isinstance(line, CutLine):
            raise InputError(f"{file.name}: line {number} is too large; expected a small document.")
        lines.append(line)
    try:
        return b"\n".join(lines).decode("utf-8")
    except UnicodeDecodeError as error:
        raise OtherContentError(f"{file.name} is not UTF-8 (byte {error.start}); expected UTF-8.") from error
