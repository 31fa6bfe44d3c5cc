"""Arrow tables in the format of Postgres' binary COPY, a column at a time, and back where all has one width.

A tuple is the number of its fields, then each field's length and bytes, in network byte order; a null has the
length -1. (PostgreSQL documentation, COPY, binary format.)
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pinakes.matrices import to_lists

HEADER: Final = b"PGCOPY\n\xff\r\n\0" + bytes(8)
TRAILER: Final = b"\xff\xff"

_EPOCH: Final = np.datetime64("2000-01-01", "us").astype(np.int64)
"""Postgres counts microseconds from here"""

_KINDS: Final = {2: ">i2", 4: ">i4", 8: ">i8", 16: "V16"}
"""bytes of a whole number or a UUID -> how numpy calls them; those of no other length are decoded"""
_DIGITS: Final = [place for place in range(36) if place not in {8, 13, 18, 23}]
"""where the digits of a UUID as text are"""
_WIDEST_NUMBER: Final = 16
"""bytes up to which numpy copies a field as one number, not byte by byte"""
_NOT_FIXED: Final = "a field is null, or not of the one length that its column has"

_Bytes = np.ndarray[Any, np.dtype[np.uint8]]
_Fixed = np.ndarray[Any, np.dtype[np.void]]
"""the bytes of fields of one width, one element a field"""


def encode_tuples(rows: pa.RecordBatch, types: Sequence[str]) -> pa.Buffer:
    """The rows as tuples of COPY, without header and trailer.

    Args:
        rows: columns of texts, whole numbers, numbers, truth values, times, UUIDs as text, or vectors.
        types: the Postgres type of each column, as `text`, `bigint` or `vector`.

    >>> batch = pa.record_batch({"a": pa.array([7]), "b": pa.array([None], pa.string())})
    >>> encode_tuples(batch, ["integer", "text"]).to_pybytes().hex(" ", 2)
    '0002 0000 0004 0000 0007 ffff ffff'
    """
    count = rows.num_rows
    if not count:
        return pa.py_buffer(b"")
    pieces: list[_Fixed | pa.Array] = [np.frombuffer(len(types).to_bytes(2), "V2")]
    for column, type_ in zip(rows.columns, types, strict=True):
        pieces += _encode_column(column, type_)
    parts: list[pa.Array] = []
    for is_fixed, group in groupby(pieces, lambda piece: isinstance(piece, np.ndarray)):
        run = list(group)
        parts += [_join_fixed(run, count)] if is_fixed else run
    if len(parts) == 1:  # as of rows of numbers alone
        return parts[0].buffers()[1]
    parts = [pc.cast(part, pa.large_binary()) for part in parts]
    joined = pc.binary_join_element_wise(*parts, pa.scalar(b"", pa.large_binary()))
    _, offsets, data = joined.buffers()
    ends = np.frombuffer(offsets, np.int64)
    return data.slice(int(ends[joined.offset]), int(ends[joined.offset + len(joined)] - ends[joined.offset]))


def decode_tuples(
    parts: Iterable[bytes | memoryview], columns: Mapping[str, int | None], rows: int
) -> Generator[pa.Table]:
    """The rows of a binary COPY in tables of about `rows` rows; of no rows no table.

    Args:
        parts: the whole output of the COPY with header and trailer, cut anywhere.
        columns: names, each with the length of its vectors, or None for whole numbers and UUIDs (as text).
        rows: of a table; the last may have fewer.

    Raises:
        ValueError: a field is null, or of a length that no number, UUID or vector of the column has.

    >>> fields = bytes.fromhex("0002 00000008 0000000000000007 0000000c 00020000 3f800000 40000000")
    >>> next(decode_tuples([HEADER, fields, TRAILER], {"id": None, "vector": 2}, 5)).to_pylist()
    [{'id': 7, 'vector': [1.0, 2.0]}]
    """
    pending, kind = bytearray(), None
    for part in parts:
        pending += part
        if kind is None and (kind := _find_tuple(pending, columns)) is not None:
            del pending[: len(HEADER)]
        if kind is not None and len(pending) >= rows * kind.itemsize:
            whole = len(pending) // kind.itemsize * kind.itemsize
            taken, pending = pending, pending[whole:]
            yield _decode_block(memoryview(taken)[:whole], kind, columns)
    if kind is not None and len(pending) > len(TRAILER):
        yield _decode_block(memoryview(pending)[: -len(TRAILER)], kind, columns)


def _find_tuple(data: bytearray, columns: Mapping[str, int | None]) -> np.dtype[Any] | None:
    """The bytes of the first row, which follows the header; None while it is not there as a whole."""
    place = len(HEADER) + 2
    fields: list[tuple[Any, ...]] = [("fields", ">i2")]
    for number, dimensions in enumerate(columns.values()):
        if len(data) < place + 4:
            return None
        length = int.from_bytes(data[place : place + 4], signed=True)
        if length < 0 or (dimensions is None and length not in _KINDS):
            raise ValueError(_NOT_FIXED)
        place += 4 + length
        fields.append((f"length_{number}", ">i4"))
        if dimensions is None:
            fields.append((f"value_{number}", _KINDS[length]))
        else:
            fields += [(f"shape_{number}", ">i4"), (f"value_{number}", ">f4", (dimensions,))]
    return np.dtype(fields) if len(data) >= place else None


def _decode_block(data: memoryview, kind: np.dtype[Any], columns: Mapping[str, int | None]) -> pa.Table:
    if len(data) % kind.itemsize:
        raise ValueError(_NOT_FIXED)
    rows = np.frombuffer(data, dtype=kind)
    arrays = []
    for number, dimensions in enumerate(columns.values()):
        values = rows[f"value_{number}"]
        width = values.dtype.itemsize if dimensions is None else 4 + 4 * dimensions
        is_shaped = dimensions is None or (rows[f"shape_{number}"] == dimensions << 16).all()
        if not is_shaped or not (rows[f"length_{number}"] == width).all():
            raise ValueError(_NOT_FIXED)
        arrays.append(_decode_column(values, dimensions))
    if not (rows["fields"] == len(columns)).all():
        raise ValueError(_NOT_FIXED)
    return pa.Table.from_arrays(arrays, names=list(columns))


def _decode_column(values: Any, dimensions: int | None) -> pa.Array:
    if dimensions is not None:
        return to_lists(values.astype(np.float32))
    if values.dtype.kind == "V":
        text = np.full((len(values), 36), ord("-"), dtype=np.uint8)
        text[:, _DIGITS] = np.frombuffer(values.tobytes().hex().encode(), np.uint8).reshape(-1, 32)
        return pc.cast(_to_arrow(_cut(text, len(values))), pa.string())
    return pa.array(values.astype(values.dtype.newbyteorder("=")))


def _encode_column(column: pa.Array, type_: str) -> tuple[_Fixed, _Fixed | pa.Array]:
    """The lengths and the bytes of a column's fields."""
    if type_ in _FIXED:
        fields = _cut(_FIXED[type_](_fill(column)), len(column))
        if not column.null_count:
            return np.frombuffer(fields.dtype.itemsize.to_bytes(4), "V4"), fields
        lengths = np.full(len(column), fields.dtype.itemsize, dtype=">i4")
        values = pc.cast(_to_arrow(fields), pa.large_binary())
    elif type_ not in _TEXTS:
        raise TypeError(f"no encoding for columns of Postgres' type {type_}")
    else:
        text = column if pa.types.is_large_string(column.type) else pc.cast(column, pa.large_string())
        values = pc.fill_null(pc.cast(text, pa.large_binary()), b"")
        lengths = np.asarray(pc.binary_length(values)).astype(">i4")
    if column.null_count:
        is_null = np.asarray(column.is_null())
        lengths[is_null] = -1
        values = pc.if_else(pa.array(is_null), pa.scalar(b"", pa.large_binary()), values)
    return lengths.view("V4"), values


def _cut(flat: _Bytes, count: int) -> _Fixed:
    """Bytes as `count` fields of one width."""
    return np.ascontiguousarray(flat).reshape(-1).view(f"V{flat.size // count}")


def _join_fixed(pieces: Sequence[_Fixed], count: int) -> pa.Array:
    """Pieces of one width each, end to end in each of `count` rows; one that stands alone is of all rows."""
    widths = [piece.dtype.itemsize for piece in pieces]
    kinds = [(f"V{width}",) if width <= _WIDEST_NUMBER else ("u1", (width,)) for width in widths]
    joined = np.empty(count, dtype=[(str(place), *kind) for place, kind in enumerate(kinds)])
    for place, (piece, width) in enumerate(zip(pieces, widths, strict=True)):
        joined[str(place)] = piece if width <= _WIDEST_NUMBER else piece.view(np.uint8).reshape(-1, width)
    return _to_arrow(joined)


def _to_arrow(fields: np.ndarray[Any, Any]) -> pa.Array:
    width = pa.binary(fields.dtype.itemsize)
    return pa.FixedSizeBinaryArray.from_buffers(width, len(fields), [None, pa.py_buffer(fields)])


def _fill(column: pa.Array) -> pa.Array:
    """The column with something in place of nulls, which is not sent."""
    if not column.null_count or pa.types.is_fixed_size_list(column.type):
        return column
    if pa.types.is_string(column.type):
        return pc.fill_null(column, str(UUID(int=0)))
    return pc.fill_null(column, pa.scalar(0, pa.int64()).cast(column.type))


def _encode_numbers(dtype: str) -> Callable[[pa.Array], _Bytes]:
    def encode(column: pa.Array) -> _Bytes:
        numbers = np.asarray(column.to_numpy(zero_copy_only=False))
        return np.ascontiguousarray(numbers.astype(dtype)).view(np.uint8)

    return encode


def _encode_times(column: pa.Array) -> _Bytes:
    counted = np.asarray(pc.cast(pc.cast(column, pa.timestamp("us", column.type.tz)), pa.int64()))
    return (counted - _EPOCH).astype(">i8").view(np.uint8)


def _encode_uuids(column: pa.Array) -> _Bytes:
    digits = pc.replace_substring(column, "-", "")
    joined = "".join(digits.to_pylist())
    return np.frombuffer(bytes.fromhex(joined), np.uint8)


def _encode_vectors(column: pa.Array) -> _Bytes:
    """pgvector's format: the dimension and a zero in two bytes each, then 32-bit floats."""
    dimensions = column.type.list_size
    # Not `flatten`, which leaves out what is null.
    values = column.values.slice(column.offset * dimensions, len(column) * dimensions)
    matrix = values.to_numpy(zero_copy_only=False).reshape(len(column), dimensions)
    encoded = np.empty((len(column), 4 + 4 * dimensions), dtype=np.uint8)
    encoded[:, :4] = np.array([dimensions, 0], dtype=">i2").view(np.uint8)
    encoded[:, 4:] = matrix.astype(">f4").view(np.uint8).reshape(len(column), -1)
    return encoded.reshape(-1)


_FIXED: Final[dict[str, Callable[[pa.Array], _Bytes]]] = {
    "smallint": _encode_numbers(">i2"),
    "integer": _encode_numbers(">i4"),
    "bigint": _encode_numbers(">i8"),
    "real": _encode_numbers(">f4"),
    "double precision": _encode_numbers(">f8"),
    "boolean": _encode_numbers(">u1"),
    "timestamp with time zone": _encode_times,
    "timestamp": _encode_times,
    "timestamp without time zone": _encode_times,
    "uuid": _encode_uuids,
    "vector": _encode_vectors,
}
"""Postgres type of one width -> what makes its bytes"""
_TEXTS: Final = frozenset({"text", "varchar", "character varying"})
