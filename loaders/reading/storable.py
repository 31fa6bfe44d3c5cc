"""What the tables can hold: texts without NUL, whole numbers in range, finite numbers.

A column is looked at as a whole, and value by value only where it has a fault.
"""

import math
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from pinakes.loaders.staging import STAGED, Rows

_TYPES: Final = {
    table: {column.name: column.type for column in schema if not pa.types.is_string(column.type)}
    for table, schema in STAGED.items()
}
"""Staged table -> column that holds no text -> its type."""
_EXPECTED: Final = {
    table: [column.name for column in schema if not column.nullable and column.name != "row_number"]
    for table, schema in STAGED.items()
}
"""Staged table -> columns that are never null."""


def build_column(field: pa.Field, values: list[Any]) -> pa.Array | None:
    """The values as a column of a staged table; None where it cannot hold one of them.

    >>> build_column(pa.field("year", pa.int32()), [1999, None]).to_pylist()
    [1999, None]
    >>> build_column(pa.field("year", pa.int32()), [1999, True]) is None
    True
    """
    kinds = set(map(type, values))
    if type(None) in kinds:
        if not field.nullable:
            return None
        kinds.remove(type(None))
    if not kinds <= _find_kinds(field.type):
        return None
    try:
        column = pa.array(values, type=field.type)
    except (pa.ArrowInvalid, OverflowError, UnicodeEncodeError):
        return None
    return column if _is_clean(column) else None


def _find_kinds(type_: pa.DataType) -> set[type]:
    if pa.types.is_string(type_):
        return {str}
    if pa.types.is_boolean(type_):
        return {bool}
    return {int, float} if pa.types.is_floating(type_) else {int}


def _is_clean(column: pa.Array) -> bool:
    if pa.types.is_string(column.type):
        # Postgres has no NUL character in a text, and both databases hold the same rows.
        return not pc.any(pc.match_substring(column, "\x00")).as_py()
    if pa.types.is_floating(column.type):
        return pc.all(pc.is_finite(column)).as_py() is not False
    return True


def find_unstorable(rows: Rows) -> str | None:
    """What is wrong with the first value that its column cannot hold; None when all is well."""
    for table, members in rows.items():
        types = _TYPES[table]
        for row in members:
            for column in _EXPECTED[table]:
                if row.get(column) is None:
                    return f"{column} is missing"
            for column, value in row.items():
                fault = None if value is None else _find_fault(value, types.get(column))
                if fault is not None:
                    return f"{column} {fault}"
    return None


def _find_fault(value: Any, type_: pa.DataType | None) -> str | None:
    """Why a column of that type, or of texts (None), cannot hold the value.

    >>> _find_fault("a\\x00b", None), _find_fault(2**31, pa.int32()), _find_fault(7, pa.int32())
    ('holds a NUL character', 'is out of range: 2147483648', None)
    """
    if type_ is not None:
        return _find_number_fault(value, type_)
    if not isinstance(value, str):
        return f"is no text: {value!r:.80}"
    # Postgres has no NUL character in a text, and both databases hold the same rows.
    if "\x00" in value:
        return "holds a NUL character"
    return None if value.isascii() or is_unicode(value) else "holds half of a surrogate pair"


def _find_number_fault(value: Any, type_: pa.DataType) -> str | None:
    """Why a column of whole numbers, numbers or truth values cannot hold the value.

    >>> _find_number_fault(True, pa.int32()), _find_number_fault(float("nan"), pa.float64())
    ('is no whole number: True', 'is no finite number: nan')
    """
    if pa.types.is_boolean(type_):
        return None if isinstance(value, bool) else f"is neither true nor false: {value!r:.80}"
    if pa.types.is_floating(type_):
        is_finite = type(value) in (int, float) and math.isfinite(value)
        return None if is_finite else f"is no finite number: {value!r:.80}"
    if type(value) is not int:
        return f"is no whole number: {value!r:.80}"
    limit = 1 << type_.bit_width - 1
    return None if -limit <= value < limit else f"is out of range: {value!r:.80}"


def is_unicode(value: str) -> bool:
    """Whether a text holds no half of a surrogate pair."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
