"""What the folder of a site remembers: the files that it made, which parts are whole, the systems' looks.

The record is a list that only grows while a site is written, a line of JSON for each thing, and is written
anew at the end. A later line counts. It is read by nobody else, and leads to nothing outside the folder.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Final

import orjson

_HEAD: Final = ["site", "Files of a site that pinakes made; it replaces and removes these and no others."]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a site that was whole.

    Attributes:
        key: a digest of all that decides its files.
        said: what other pages say of it.
    """

    key: str
    said: Mapping[str, Any]


@dataclass(slots=True)
class Record:
    """What a folder remembers.

    Attributes:
        files: name -> digest of the content; empty while it is being written.
        parts: the beginning of the names of a part's files -> the part.
        looks: system -> the number of its look.
    """

    files: dict[str, str] = field(default_factory=dict)
    parts: dict[str, Part] = field(default_factory=dict)
    looks: dict[str, int] = field(default_factory=dict)

    def list_files(self, prefix: str) -> dict[str, str]:
        """The files whose names begin so."""
        return {name: digest for name, digest in self.files.items() if name.startswith(prefix)}


def read_record(content: bytes) -> Record:
    """The record of these lines; what is no line of one, as the half line of a kill, is passed over."""
    record = Record()
    for line in content.split(b"\n"):
        match _parse(line):
            case ["file", str(name), str(digest)] if is_inside(name):
                record.files[name] = digest
            case ["gone", str(name)]:
                record.files.pop(name, None)
            case ["part", str(prefix), str(key), dict(said)]:
                record.parts[prefix] = Part(key, said)
            case ["look", str(system), int(number)] if number >= 0:
                record.looks[system] = number
    return record


def _parse(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None


def write_record(record: Record) -> bytes:
    """All lines of a record, in an order that does not depend on how it came about."""
    looks = [["look", system, number] for system, number in sorted(record.looks.items())]
    parts = [["part", prefix, part.key, part.said] for prefix, part in sorted(record.parts.items())]
    return write_lines(_HEAD, *looks, *parts, *(["file", *one] for one in sorted(record.files.items())))


def write_lines(*lines: list[Any]) -> bytes:
    """Lines of a record."""
    return b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines)


def is_inside(name: str) -> bool:
    """Whether a name is of a file within the folder, as we write it.

    >>> [is_inside(name) for name in ("index.html", "a/b.html", "../x", "/etc/x", "a//b", ".x", "")]
    [True, True, False, False, False, False, False]
    """
    parts = PurePosixPath(name).parts
    plain = all(part not in ("..", "/") and ":" not in part and "\\" not in part for part in parts)
    return bool(name) and name == "/".join(parts) and plain and "\0" not in name and not name.startswith(".")
