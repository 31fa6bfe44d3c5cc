"""The types of what a mapping reads in a JSON Lines file, told from its first lines.

They are a guess that costs nothing but time where it is wrong: a block of lines that does not have these
types is read line by line. Leaves out: reading (`columnar`).
"""

from itertools import islice
from typing import Any, Final

import orjson
import pyarrow as pa

from pinakes.loaders.base import InputFile
from pinakes.loaders.mapped.mapping import Mapping, TableMapping
from pinakes.loaders.mapped.values import Path
from pinakes.loaders.reading.streams import read_lines

SAMPLED_LINES: Final = 100
_SCALARS: Final = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}

Keys = tuple[str, ...]


class _MixedTypesError(Exception):
    """A key holds values of several types, or more than a mapping of columns can follow."""


def infer_schema(file: InputFile, mapping: Mapping) -> pa.Schema | None:
    """The top-level keys that the mapping reads, with their types; None where they have no one type each."""
    sample = [record for record in map(_parse, islice(read_lines(file), SAMPLED_LINES)) if record is not None]
    try:
        wanted = _list_wanted(mapping, sample)
        fields = [
            pa.field(key, _infer([record.get(key) for record in sample], ways))
            for key, ways in wanted.items()
        ]
    except _MixedTypesError:
        return None
    return pa.schema(fields)


def _parse(line: tuple[int, bytes]) -> dict[str, Any] | None:
    try:
        record = orjson.loads(line[1])
    except orjson.JSONDecodeError:
        return None
    return record if isinstance(record, dict) else None


def _list_wanted(mapping: Mapping, sample: list[dict[str, Any]]) -> dict[str, set[Keys]]:
    """Top-level key -> the ways that lead on from it; the empty way is the value itself."""
    wanted: dict[str, set[Keys]] = {}
    for table in mapping.tables:
        for path in _list_paths(table):
            if not path.keys or (len(path.keys) > 1 and any(path.text in record for record in sample)):
                raise _MixedTypesError
            wanted.setdefault(path.keys[0], set()).add(path.keys[1:])
    return wanted


def _list_paths(table: TableMapping) -> list[Path]:
    paths = [path for column in table.columns for path in column.paths]
    if table.each is None:
        return paths
    each = table.each.keys
    return [Path(f"{table.each.text}.{path.text}", (*each, *path.keys), False) for path in paths] or [
        table.each
    ]


def _infer(values: list[Any], ways: set[Keys]) -> pa.DataType:
    """The type of a key's values, of which the given ways lead on."""
    given = [value for value in values if value is not None]
    kinds = {type(value) for value in given}
    if len(kinds) > 1:
        raise _MixedTypesError
    kind = kinds.pop() if kinds else None
    if kind is list:
        return pa.list_(_infer([item for value in given for item in value], ways))
    if kind is dict or (kind is None and () not in ways):
        if () in ways:
            raise _MixedTypesError
        members = sorted({way[0] for way in ways})
        return pa.struct(
            [
                (
                    name,
                    _infer([value.get(name) for value in given], {way[1:] for way in ways if way[0] == name}),
                )
                for name in members
            ]
        )
    if kind is not None and kind not in _SCALARS:
        raise _MixedTypesError
    return _SCALARS[kind or str]
