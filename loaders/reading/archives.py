"""Entries of tar and zip archives, read in place and never unpacked to disk.

Nothing is trusted: absolute or `..` paths, drive letters, links, devices, sparse and encrypted entries, names
that stand twice, and decompression bombs are refused. What macOS adds (`__MACOSX/`, `._name`) is passed over.
"""

import hashlib
import re
import stat
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import IO, Final

from pinakes.errors import InputError, OtherContentError
from pinakes.loaders.reading.archive_formats import (
    TAR,
    ZIP,
    Guarded,
    Member,
    iterate_tar,
    iterate_zip,
    refuse,
)
from pinakes.loaders.reading.breaks import BrokenStreamError
from pinakes.loaders.reading.compression import buffer, explain_unreadable

_OUTSIDE: Final = re.compile(r"^/|^[A-Za-z]:|\\|\0|(?:^|/)\.\.(?:/|$)")


def is_archive(path: Path) -> bool:
    """Whether the name is that of an archive: `.zip`, or `.tar` plain or compressed.

    >>> is_archive(Path("a.tar.zst")), is_archive(Path("a.jsonl.zst"))
    (True, False)
    """
    return path.name.lower().endswith((*ZIP, *TAR))


@dataclass(frozen=True, slots=True)
class Entry:
    """The name of one of an archive's files, and its size in bytes."""

    name: str
    size: int


@dataclass(frozen=True, slots=True)
class Listing:
    """An archive's files in its order, and what is wrong where it breaks off behind them."""

    entries: tuple[Entry, ...]
    damage: BrokenStreamError | None = None


def list_members(path: Path) -> list[str]:
    """The names of the archive's files, in its order, without what macOS adds."""
    return [entry.name for entry in list_entries(path).entries if not _is_from_macos(entry.name)]


def list_entries(path: Path) -> Listing:
    """The archive's files, after a look at the whole of it; what was seen is kept while it is the same.

    Raises:
        BrokenStreamError: it breaks off before its first file.
    """
    try:
        state = path.stat()
    except OSError as error:
        raise explain_unreadable(path, error) from error
    if stat.S_ISREG(state.st_mode) and not state.st_size:
        raise OtherContentError(
            f"{path.name} is not a {_name_kind(path)} archive, or is damaged: it is empty."
        )
    return _list_entries(path, state.st_size, state.st_mtime_ns)


def _name_kind(path: Path) -> str:
    return "zip" if path.name.lower().endswith(ZIP) else "tar"


@lru_cache(maxsize=16)
def _list_entries(path: Path, _size: int, _changed_ns: int) -> Listing:
    entries: list[Entry] = []
    try:
        entries.extend(Entry(member.name, member.size) for member in _iterate_entries(path))
    except BrokenStreamError as error:
        if not entries:
            raise
        return Listing(tuple(entries), error)
    return Listing(tuple(entries))


def open_member(path: Path, name: str) -> IO[bytes]:
    """The bytes of one entry, as a stream; closing it closes the archive."""
    members = iterate_members(path)
    for member in members:
        if member.name == name:
            return buffer(Guarded(member.stream, path.name, members.close))
    raise InputError(f"{path.name} has no entry {name!r}.")


def digest_member(archive_digest: str, name: str) -> str:
    """What an archive's entry is known by: a sha256 over the archive's digest and the entry's name."""
    return hashlib.sha256(f"{archive_digest}:{name}".encode("utf-8", "surrogateescape")).hexdigest()


def iterate_members(path: Path) -> Generator[Member, None, None]:
    """The archive's files, in its order; each is to be read before the next is asked for."""
    with closing(_iterate_entries(path)) as members:
        for member in members:
            if not _is_from_macos(member.name):
                yield member


def _iterate_entries(path: Path) -> Generator[Member, None, None]:
    seen: set[str] = set()
    iterate = iterate_zip if path.name.lower().endswith(ZIP) else iterate_tar
    with closing(iterate(path)) as members:
        for member in members:
            name = str(PurePosixPath(member.name))
            if _OUTSIDE.search(member.name):
                refuse(path, member.name, "points outside the archive")
            if name in seen:
                refuse(path, member.name, "stands twice")
            seen.add(name)
            yield member


def _is_from_macos(name: str) -> bool:
    path = PurePosixPath(name)
    return path.parts[:1] == ("__MACOSX",) or path.name.startswith("._")


def is_hidden(name: str) -> bool:
    """Whether a file below a source is hidden, lies in a hidden folder, or is of the system.

    >>> is_hidden("a/.cache/b.json"), is_hidden("__MACOSX/b.json"), is_hidden("./a/b.json")
    (True, True, False)
    """
    return any(part.startswith(".") or part == "__MACOSX" for part in PurePosixPath(name).parts)
