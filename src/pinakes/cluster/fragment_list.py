"""The list of a set of fragments: what a folder has, and whether it is whole; no vectors are read."""

import hashlib
import json
from typing import Any, Final, NamedTuple

from pinakes.writing.folders import Folder, join_address, open_folder

LIST_FILE: Final = "fragments.json"


class Fragment(NamedTuple):
    """A file of a set: `bytes` of it, its sha256, and how many documents it has."""

    path: str
    bytes: int
    sha256: str
    rows: int


class WholeSet(NamedTuple):
    """A set whose list is there: how many files, documents and bytes it has, and the list's sha256."""

    fragment_count: int
    row_count: int
    byte_count: int
    list_sha256: str


def find_set(place: str) -> WholeSet | None:
    """What the set at a path or an address is; None where there is no whole one."""
    folder = open_folder(place)
    listed = read_list(folder)
    return None if listed is None else describe_set(folder, listed)


def describe_set(folder: Folder, listed: list[Fragment]) -> WholeSet:
    """What the listed fragments of a folder are together."""
    rows, size = (sum(column) for column in zip(*((one.rows, one.bytes) for one in listed), strict=True))
    return WholeSet(len(listed), rows, size, hashlib.sha256(folder.read_file(LIST_FILE)).hexdigest())


def read_list(folder: Folder) -> list[Fragment] | None:
    """The fragments of a set that is whole."""
    try:
        listed: list[dict[str, Any]] = json.loads(folder.read_file(LIST_FILE))
        sizes = folder.list_files()
        found = [Fragment(**one) for one in listed]
        whole = all(sizes.get(one.path) == one.bytes for one in found)
        return [one._replace(path=join_address(folder.address, one.path)) for one in found] if whole else None
    except (OSError, ValueError, TypeError, KeyError):
        return None
