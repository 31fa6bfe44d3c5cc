"""Arrow's types and Postgres': which is which, and rows of a cursor as Arrow tables."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray
from pgvector import Vector
from psycopg.types import TypeInfo

from pinakes.matrices import to_lists

_POSTGRES_TYPES: Final = {
    # Ordered byte by byte, as the tables' texts are and as DuckDB orders.
    pa.string(): 'text COLLATE "C"',
    pa.large_string(): 'text COLLATE "C"',
    pa.int32(): "integer",
    pa.int64(): "bigint",
    pa.float32(): "real",
    pa.float64(): "double precision",
    pa.bool_(): "boolean",
}
_ARROW_TYPES: Final = {
    "text": pa.string(),
    "varchar": pa.string(),
    "uuid": pa.string(),
    "int2": pa.int32(),
    "int4": pa.int32(),
    "int8": pa.int64(),
    "numeric": pa.float64(),
    "float4": pa.float32(),
    "float8": pa.float64(),
    "bool": pa.bool_(),
    "date": pa.date32(),
    "timestamptz": pa.timestamp("us", tz="UTC"),
    "timestamp": pa.timestamp("us"),
    "time": pa.time64("us"),
    "bytea": pa.binary(),
}


def find_postgres_type(type_: pa.DataType) -> str:
    """The type of a staged column, as SQL writes it. Raises `TypeError` for one that there is none for."""
    if pa.types.is_fixed_size_list(type_):
        return f"vector({int(type_.list_size)})"
    if pa.types.is_timestamp(type_):
        return "timestamp" if type_.tz is None else "timestamp with time zone"
    if type_ not in _POSTGRES_TYPES:
        raise TypeError(f"no Postgres type for Arrow's {type_}")
    return _POSTGRES_TYPES[type_]


def find_list_type(raw: Any, oid: int) -> pa.DataType | None:
    """The Arrow type of an array of Postgres'; None of any other type."""
    info = raw.adapters.types.get(oid)
    if info is None or info.array_oid != oid:
        return None
    return pa.list_(_ARROW_TYPES.get(info.name, pa.string()))


def find_arrow_types(raw: Any, columns: Sequence[Any]) -> list[pa.DataType | None]:
    """The Arrow types of the columns of a cursor's description; None for a vector."""
    found: list[pa.DataType | None] = []
    for column in columns:
        info = raw.adapters.types.get(column.type_code)
        if info is None:  # pgvector's oid differs from server to server; a connection learns it when told
            info = TypeInfo.fetch(raw, "vector")
            is_vector = info is not None and info.oid == column.type_code
        else:
            is_vector = info.name == "vector"
        found.append(None if is_vector else _ARROW_TYPES.get(info.name if info else "text", pa.string()))
    return found


def make_arrow_table(names: list[str], types: list[pa.DataType | None], rows: Sequence[Any]) -> pa.Table:
    """The rows of a cursor as columns of those names, in the types that `find_arrow_types` gives."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    arrays = [_arrow_array(values, type_) for values, type_ in zip(columns, types, strict=True)]
    return pa.Table.from_arrays(arrays, names=names)


def _arrow_array(values: Sequence[Any], type_: pa.DataType | None) -> pa.Array:
    if type_ is None:
        return _vector_array(values)
    if type_ == pa.float64():  # Postgres sums whole numbers as decimals
        values = [None if value is None else float(value) for value in values]
    try:
        return pa.array(values, type=type_)
    except pa.ArrowTypeError:
        if type_ != pa.string():
            raise
        return pa.array([None if value is None else _write_text(value) for value in values], type=type_)


def _write_text(value: Any) -> str:
    """A value of a type that Arrow has no like of, as text: JSON as JSON."""
    return orjson.dumps(value).decode() if isinstance(value, dict | list | bool) else str(value)


def _vector_array(values: Sequence[Any]) -> pa.Array:
    if values and all(type(value) is bytes for value in values):
        return to_lists(_read_binary(values))
    vectors = [None if value is None else _vector(value) for value in values]
    known = [vector for vector in vectors if vector is not None]
    if not known:
        return pa.nulls(len(vectors), type=pa.list_(pa.float32()))
    blank = np.zeros_like(known[0])
    matrix = np.stack([blank if vector is None else vector for vector in vectors])
    missing = pa.array([vector is None for vector in vectors])
    return to_lists(matrix, missing)


def _read_binary(values: Sequence[bytes]) -> NDArray[np.float32]:
    """The matrix of vectors of one length, as pgvector sends each: the length, two bytes of zero, numbers."""
    joined = np.frombuffer(b"".join(values), dtype=">f4").reshape(len(values), -1)
    return joined[:, 1:].astype(np.float32)


def _vector(value: Any) -> np.ndarray[Any, np.dtype[np.float32]]:
    if isinstance(value, bytes):
        return _read_binary([value]).ravel()
    if isinstance(value, str):
        value = Vector.from_text(value)
    return np.asarray(value.to_numpy(), dtype=np.float32)
