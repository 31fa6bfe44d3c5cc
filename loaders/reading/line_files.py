"""JSON Lines wherever a release keeps them: one file, the shards of a folder, the entries of an archive.

An archive is read as one file, from its first entry to its last, since opening a compressed one anew for each
entry reads it from the start each time.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.archives import is_archive, iterate_members
from pinakes.loaders.reading.compression import COMPRESSIONS, decompress
from pinakes.loaders.reading.records import parse_json_object, read_json_lines
from pinakes.loaders.reading.streams import CutLine, split_stream
from pinakes.loaders.staging import Accepted, Rejected, Rows, take_record

_LINES: Final = (".jsonl", ".json", ".ndjson")


def find_line_files(
    source: Path | None, *, role: str = "papers", suffixes: tuple[str, ...] = _LINES
) -> list[InputFile]:
    """The files with lines below the source, in the order of their names; hidden ones are passed over.

    Args:
        source: a file, which is taken whatever its name; an archive; or a folder with either.
        role: the role of each.
        suffixes: how the names of a folder's or an archive's files end, before `.gz` and the like.

    Raises:
        InputError: there is no such file or folder, or the folder holds no such file.
    """
    if source is None or not source.exists():
        raise InputError(f"there is no {source}; expected a file with JSON lines, an archive or a folder.")
    if source.is_file():
        return [InputFile(source, source.name, role)]
    found = (path for path in source.rglob("*") if path.is_file())
    names = sorted(
        (path.relative_to(source).as_posix(), path)
        for path in found
        if _holds_lines(path.relative_to(source).as_posix(), suffixes) or is_archive(path)
    )
    if not names:
        raise InputError(f"{source} has no file ending in {', '.join(suffixes)}, plain or compressed.")
    return [InputFile(path, name, role) for name, path in names]


def _holds_lines(name: str, suffixes: tuple[str, ...]) -> bool:
    """Whether the name of a file is that of one with JSON lines.

    >>> _holds_lines("2212/a.jsonl.gz", (".jsonl",)), _holds_lines(".cache/a.jsonl", (".jsonl",))
    (True, False)
    """
    path = PurePosixPath(name)
    if any(part.startswith(".") for part in path.parts):
        return False
    return path.name.endswith(tuple(f"{end}{packed}" for end in suffixes for packed in ("", *COMPRESSIONS)))


def read_json_line_files(
    file: InputFile,
    parse: Callable[[dict[str, Any]], Rows],
    *,
    suffixes: tuple[str, ...] = _LINES,
) -> Iterator[Accepted | Rejected]:
    """The records of a file with JSON lines, or of all entries with such lines of an archive.

    Raises:
        InputError: the file cannot be read, or no entry of the archive holds lines.
        LoadError: it is damaged or cut short.
    """
    if file.path is None or file.member is not None or not is_archive(file.path):
        yield from read_json_lines(file, parse)
        return
    numbers = count(1)
    is_empty = True
    for member in iterate_members(file.path):
        if _holds_lines(member.name, suffixes):
            is_empty = False
            yield from _read_member(member.name, decompress(member.open(), member.name), numbers, parse)
    if is_empty:
        raise InputError(f"{file.name} has no entry ending in {', '.join(suffixes)}, plain or compressed.")


def _read_member(
    name: str, stream: IO[bytes], numbers: Iterator[int], parse: Callable[[dict[str, Any]], Rows]
) -> Iterator[Accepted | Rejected]:
    for line_number, _, whole in split_stream(stream):
        line = whole if isinstance(whole, CutLine) else whole.rstrip(b"\r\n")
        if line.strip():
            location = f"{name}: line {line_number}"
            yield take_record(next(numbers), location, line, partial(_parse_line, line, parse))


def _parse_line(line: bytes, parse: Callable[[dict[str, Any]], Rows]) -> Rows:
    return parse(parse_json_object(line))
