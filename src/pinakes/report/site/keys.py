"""What decides the pages of a part of a site, as a digest: where it is the same, they are not made again."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePath
from typing import Any, Final

import numpy as np
import orjson

from pinakes.report.site.queries import ShownQuery
from pinakes.version import VERSION

_PACKAGES: Final = ("report", "evaluate", "evaluators", "queries", "tasks")
"""the packages whose modules and templates make pages of what the database holds"""
_OPTIONS: Final = orjson.OPT_NON_STR_KEYS | orjson.OPT_SORT_KEYS


class Key:
    """A digest that grows by values and by queries."""

    def __init__(self, *values: object) -> None:
        self._digest = hashlib.sha256(digest_code().encode())
        for value in values:
            self._digest.update(orjson.dumps(_make_plain(value), option=orjson.OPT_APPEND_NEWLINE))

    def watch(self, queries: Iterable[ShownQuery]) -> Iterator[ShownQuery]:
        """The queries as they come, each of which the digest takes in."""
        for query in queries:
            self._digest.update(orjson.dumps(query, option=_OPTIONS))
            yield query

    def finish(self) -> str:
        """The digest of all."""
        return self._digest.hexdigest()


@cache
def digest_code() -> str:
    """sha256 over the version, and over the modules and templates that make pages."""
    digest = hashlib.sha256(VERSION.encode())
    for package in _PACKAGES:
        for path, file in _list_files(files(f"pinakes.{package}"), package):
            digest.update(f"{path}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _list_files(folder: Traversable, path: str) -> Iterator[tuple[str, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        name = f"{path}/{entry.name}"
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _list_files(entry, name)
        else:
            yield name, entry


def _make_plain(value: object) -> Any:
    """A value as JSON has it, so that different values are different there.

    >>> _make_plain({("a", 1): {2, 1}})
    [[['a', 1], [1, 2]]]
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return ["float", repr(value)]
    if isinstance(value, np.ndarray):
        return [str(value.dtype), value.shape, hashlib.sha256(value.tobytes()).hexdigest()]
    if isinstance(value, np.generic):
        return _make_plain(value.item())
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, (date, PurePath)):
        return [type(value).__name__, str(value)]
    if is_dataclass(value) and not isinstance(value, type):
        return [type(value).__name__, *(_make_plain(getattr(value, one.name)) for one in fields(value))]
    if isinstance(value, Mapping):
        return [[_make_plain(key), _make_plain(one)] for key, one in value.items()]
    if isinstance(value, Set):
        return sorted((_make_plain(one) for one in value), key=repr)
    if isinstance(value, (Sequence, Iterable)):
        return [_make_plain(one) for one in value]
    raise TypeError(f"a page depends on a {type(value).__name__}, which has no digest")
