"""The fields of a file's records that no column is read from: parsed all the same, to tell whether they say
anything, so that what is left out is noted once for all records that are alike in this.

Which fields there are, and of which types, is learned from records. Arrow's reader is told to accept no
others, so that a record with another field, or with one of another type, is found.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pinakes.loaders.left_out import FieldNames
from pinakes.loaders.reading.columns import explode

Codes = np.ndarray[Any, np.dtype[np.int64]]
"""a small number for each record"""

_MOST_FIELDS: Final = 500
"""A file with more holds objects whose names are values."""
_DEEPEST: Final = 8

_NOTHING, _FALSE, _SOMETHING, _UNSURE = 0, 1, 2, 4
"""What a record says in a field: nothing (none, null, or empty), 0 or false, anything else; or there is an
object that is empty or holds nothing but nulls."""

_KINDS: Final = {bool: "truth", int: "number", float: "number", str: "text", list: "list", dict: "object"}
_LEAVES: Final = {None: pa.null(), "truth": pa.bool_(), "number": pa.float64(), "text": pa.string()}

_Read = Mapping[str, "_Read | None"]
"""name -> the fields that are read of the objects that stand there; None where the whole is read"""


class _NotLearnableError(Exception):
    """A field has several types, or there are too many fields."""


@dataclass(slots=True)
class _Shape:
    """What stands in a field: its kind (None: only nulls so far), an object's fields, a list's members."""

    kind: str | None = None
    fields: dict[str, "_Shape"] = field(default_factory=dict)
    member: "_Shape | None" = None

    def learn(self, value: Any, depth: int) -> int:
        """Take in a value; how many fields are new."""
        if value is None:
            return 0
        kind = _KINDS[type(value)]
        if self.kind not in (None, kind) or depth > _DEEPEST:
            raise _NotLearnableError
        self.kind = kind
        if kind == "object":
            return sum(self.learn_field(name, inner, depth) for name, inner in value.items())
        if kind != "list":
            return 0
        self.member = member = self.member or _Shape()
        by_type = {
            type(inner): inner for inner in value
        }  # of values that are no containers, one of each type
        held = value if by_type.keys() & {list, dict} else by_type.values()
        return sum(member.learn(inner, depth + 1) for inner in held)

    def learn_field(self, name: str, value: Any, depth: int) -> int:
        known = self.fields.get(name)
        if known is not None:
            return known.learn(value, depth + 1)
        if "\0" in name or any("\ud800" <= letter <= "\udfff" for letter in name):
            raise _NotLearnableError
        self.fields[name] = _Shape()
        return 1 + self.fields[name].learn(value, depth + 1)

    def learn_others(self, record: Mapping[str, Any], read: _Read) -> int:
        """Take in an object's fields that are not read, also of objects in it that are read in part."""
        found = 0
        for name, value in record.items():
            if name not in read:
                found += self.learn_field(name, value, 0)
            elif (inner := read[name]) is not None:
                for held in value if isinstance(value, list) else [value]:
                    if isinstance(held, dict):
                        found += self.fields.setdefault(name, _Shape()).learn_others(held, inner)
        return found

    def build_type(self) -> pa.DataType:
        if self.kind == "list":
            return pa.list_((self.member or _Shape()).build_type())
        if self.kind == "object":
            return pa.struct([pa.field(name, shape.build_type()) for name, shape in self.fields.items()])
        return _LEAVES[self.kind]

    def extend(self, fields: Iterable[pa.Field]) -> list[pa.Field]:
        """The fields that are read, and those that are not, of an object that is read in part."""
        read = [
            one.with_type(_extend_type(one.type, self.fields[one.name])) if one.name in self.fields else one
            for one in fields
        ]
        names = {one.name for one in read}
        return [
            *read,
            *(pa.field(name, shape.build_type()) for name, shape in self.fields.items() if name not in names),
        ]


def _extend_type(type_: pa.DataType, shape: _Shape) -> pa.DataType:
    if pa.types.is_list(type_):
        return pa.list_(_extend_type(type_.value_type, shape))
    return pa.struct(shape.extend(type_))


def _list_read(fields: Iterable[pa.Field]) -> _Read:
    return {one.name: _list_inner(one.type) for one in fields}


def _list_inner(type_: pa.DataType) -> "_Read | None":
    if pa.types.is_list(type_):
        return _list_inner(type_.value_type)
    return _list_read(type_) if pa.types.is_struct(type_) else None


class UnreadFields:
    """What has been learned of one file.

    Attributes:
        names: those of its fields that are named to the user.
    """

    def __init__(self, schemas: Sequence[pa.Schema]) -> None:
        """`schemas` are those of `columnar.Layout`."""
        self.names = FieldNames()
        self._schemas = tuple(schemas)
        self._read = _list_read(schemas[0])
        self._shape: _Shape | None = _Shape()
        self._count = 0
        self.is_new = True

    @property
    def schemas(self) -> tuple[pa.Schema, ...]:
        """The schemas with all fields that are known; none where the fields of the file cannot be learned."""
        shape = self._shape
        return () if shape is None else tuple(pa.schema(shape.extend(schema)) for schema in self._schemas)

    def learn(self, record: Mapping[str, Any]) -> None:
        """Take in the fields of a record."""
        self.is_new = False
        if self._shape is None:
            return
        try:
            self._count += self._shape.learn_others(record, self._read)
        except _NotLearnableError:
            self._shape = None
        if self._count > _MOST_FIELDS:
            self._shape = None

    def tell_apart(self, table: pa.Table, told_by: Iterable[Codes]) -> tuple[Codes, Codes]:
        """Which records say something in the same unread fields, and have the same codes in `told_by`.

        `table` has the records as one of `schemas`.

        Returns:
            The index of the first record of each sort, ascending; and for each record the place of its sort.
        """
        sorts, is_unsure = np.zeros(table.num_rows, np.int64), np.zeros(table.num_rows, np.bool_)
        for codes in [*told_by, *_list_codes(table.schema, table.columns, self._read)]:
            is_unsure |= (codes & _UNSURE) > 0
            sorts = np.unique(sorts * 8 + codes, return_inverse=True)[1]
        # Of an object that may be empty, only the record itself tells.
        sorts[is_unsure] = table.num_rows + np.flatnonzero(is_unsure)
        _, first, places = np.unique(sorts, return_index=True, return_inverse=True)
        order = np.argsort(first)
        ranks = np.empty_like(order)
        ranks[order] = np.arange(len(order))
        return first[order], ranks[places]


def _list_codes(fields: Iterable[pa.Field], columns: Sequence[Any], read: _Read) -> Iterable[Codes]:
    """What each record says in each field that is not read."""
    for one, column in zip(fields, columns, strict=True):
        values = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        if one.name not in read:
            yield _encode(values)
        elif (inner := read[one.name]) is not None:
            yield from _list_inner_codes(values, inner)


def _list_inner_codes(values: pa.Array, read: _Read) -> Iterable[Codes]:
    if pa.types.is_struct(values.type):
        if len(values.type) > len(read):
            yield from _list_codes(values.type, _list_children(values), read)
        return
    if len(values.type.value_type) == len(read):
        return
    members = explode(values)
    for codes in _list_inner_codes(members.values, read):
        of_records = np.zeros(len(values), np.int64)
        for code in (_FALSE, _SOMETHING, _UNSURE):
            of_records[members.parents[(codes & code) > 0]] |= code
        yield of_records


def _list_children(values: pa.StructArray) -> list[pa.Array]:
    return [pc.struct_field(values, place) for place in range(len(values.type))]


def _encode(values: pa.Array) -> Codes:
    """What each value says: `_NOTHING`, `_FALSE`, `_SOMETHING` or `_UNSURE`."""
    type_ = values.type
    if pa.types.is_null(type_):
        return np.zeros(len(values), np.int64)
    if pa.types.is_struct(type_):
        says = np.zeros(len(values), np.bool_)
        for child in _list_children(values):
            says |= np.asarray(child.is_valid())
        return np.where(says, _SOMETHING, np.where(np.asarray(values.is_valid()), _UNSURE, _NOTHING))
    if pa.types.is_string(type_) or pa.types.is_list(type_):
        size = pc.binary_length(values) if pa.types.is_string(type_) else pc.list_value_length(values)
        return np.where(_compare(pc.greater(size, 0)), _SOMETHING, _NOTHING)
    number = values.cast(pa.float64())
    is_said = np.asarray(values.is_valid())
    return np.where(_compare(pc.equal(number, 0)), _FALSE, np.where(is_said, _SOMETHING, _NOTHING))


def _compare(compared: pa.Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
    return np.asarray(pc.fill_null(compared, False))
