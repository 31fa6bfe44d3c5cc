"""Arrow's rows as Python's own values, the same whether pandas is installed or not.

pyarrow hands out pandas' types for nanoseconds where it can import pandas. Without it, a fraction of a
microsecond is an error, since Python's own times cannot hold it; that is the outcome that counts here.
"""

from collections.abc import Callable
from typing import Final, TypeVar

import pyarrow as pa

_Rows = TypeVar("_Rows", pa.RecordBatch, pa.Table)


def use_python_types(rows: _Rows) -> _Rows:
    """The rows with types that Python holds itself: `to_pylist` gives `datetime`, never a type of pandas'.

    A slice that has lists is judged by the lists of the whole, so take rows out (`take`) to judge them alone.

    Raises:
        pa.ArrowInvalid: (a ValueError) a time has a fraction of a microsecond, or is in a list view.

    >>> rows = pa.table({"time": pa.array([1_000], pa.timestamp("ns"))})
    >>> use_python_types(rows).to_pylist()
    [{'time': datetime.datetime(1970, 1, 1, 0, 0, 0, 1)}]
    """
    schema = pa.schema([_convert_field(field) for field in rows.schema])
    return rows if schema.types == rows.schema.types else rows.cast(schema)


def find_python_type(type_: pa.DataType) -> pa.DataType:
    """The type with microseconds in place of nanoseconds, also within lists, structs and maps.

    >>> find_python_type(pa.list_(pa.field("element", pa.timestamp("ns", "UTC"))))
    ListType(list<element: timestamp[us, tz=UTC]>)
    """
    inner = _list_inner(type_)
    if not inner:
        if pa.types.is_timestamp(type_) and type_.unit == "ns":
            return pa.timestamp("us", type_.tz)
        return _MICROSECONDS.get(type_, type_)
    if [find_python_type(part) for part in inner] == inner:
        return type_
    return next(rebuild(type_) for is_kind, rebuild in _REBUILDERS if is_kind(type_))


def _list_inner(type_: pa.DataType) -> list[pa.DataType]:
    """The types that a nested type is made of; none of a plain one."""
    if isinstance(type_, pa.BaseExtensionType):
        return [type_.storage_type]
    if pa.types.is_dictionary(type_):
        return [type_.value_type]
    return [type_.field(place).type for place in range(type_.num_fields)]


def _convert_field(field: pa.Field) -> pa.Field:
    return field.with_type(find_python_type(field.type))


def _refuse(type_: pa.DataType) -> pa.DataType:
    # Arrow's cast of a list view to a list leaves values out without a word (pyarrow 26.0.1).
    raise pa.ArrowInvalid(f"nanoseconds in {type_}; expected them in lists, structs or maps")


_MICROSECONDS: Final = {pa.time64("ns"): pa.time64("us"), pa.duration("ns"): pa.duration("us")}

_REBUILDERS: Final[list[tuple[Callable[[pa.DataType], bool], Callable[[pa.DataType], pa.DataType]]]] = [
    (pa.types.is_struct, lambda kind: pa.struct([_convert_field(field) for field in kind])),
    (pa.types.is_map, lambda kind: pa.map_(_convert_field(kind.key_field), _convert_field(kind.item_field))),
    (pa.types.is_fixed_size_list, lambda kind: pa.list_(_convert_field(kind.value_field), kind.list_size)),
    (pa.types.is_list, lambda kind: pa.list_(_convert_field(kind.value_field))),
    (pa.types.is_large_list, lambda kind: pa.large_list(_convert_field(kind.value_field))),
    (pa.types.is_nested, _refuse),
    # A dictionary or an extension is replaced by what it holds.
    (lambda kind: True, lambda kind: find_python_type(_list_inner(kind)[0])),
]
"""kind of nested type -> the type with its parts converted"""
