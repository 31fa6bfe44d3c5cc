"""What only Postgres says: temporary tables filled by binary COPY, server-side cursors, one writer's lock."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import sqlalchemy as sa
from pgvector import Vector
from pgvector.psycopg import register_vector
from psycopg import sql
from psycopg.types import TypeInfo

_WRITER_LOCK: Final = 0x50494E41  # "PINA": the advisory lock that every writing transaction takes


class PostgresBackend:
    """Postgres 16 or newer through psycopg 3, with pgvector."""

    name: Final = "postgresql"

    def prepare_write(self, connection: sa.Connection) -> None:
        """Wait for other writers of Pinakes, so that ids are handed out one transaction after the other."""
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": _WRITER_LOCK})

    def stage(self, connection: sa.Connection, name: str, rows: pa.Table) -> None:
        """Fill a temporary table of that name by binary COPY."""
        raw = _raw(connection)
        types = [_postgres_type(field.type) for field in rows.schema]
        if any(type_.startswith("vector") for type_ in types):
            register_vector(raw)
        columns = sql.SQL(", ").join(
            sql.SQL("{} {}").format(sql.Identifier(field.name), sql.SQL(type_))
            for field, type_ in zip(rows.schema, types, strict=True)
        )
        table = sql.Identifier(name)
        with raw.cursor() as cursor:
            cursor.execute(sql.SQL("CREATE TEMPORARY TABLE {} ({}) ON COMMIT DROP").format(table, columns))
            with cursor.copy(sql.SQL("COPY {} FROM STDIN (FORMAT BINARY)").format(table)) as copy:
                copy.set_types([type_.split("(")[0] for type_ in types])
                for batch in rows.to_batches(max_chunksize=10_000):
                    for row in zip(*(_python_values(column) for column in batch.columns), strict=True):
                        copy.write_row(row)
            cursor.execute(sql.SQL("ANALYZE {}").format(table))

    def unstage(self, connection: sa.Connection, name: str) -> None:
        """Drop the temporary table."""
        with _raw(connection).cursor() as cursor:
            cursor.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier(name)))

    def fetch_arrow(self, connection: sa.Connection, statement: sa.Executable) -> pa.Table:
        """The result, column by column, in Arrow types that follow the result's Postgres types."""
        result = connection.execute(statement)
        names = list(result.keys())
        types = _arrow_types(connection, result)
        rows: Sequence[Any] = result.all()
        return _arrow_table(names, types, rows)

    def stream(self, connection: sa.Connection, statement: sa.Executable, rows: int) -> Iterator[pa.Table]:
        """The result through a server-side cursor."""
        options = connection.execution_options(stream_results=True, max_row_buffer=rows)
        with options.execute(statement) as result:
            names = list(result.keys())
            types = _arrow_types(connection, result)
            for part in result.partitions(rows):
                yield _arrow_table(names, types, part)


def _raw(connection: sa.Connection) -> Any:
    return connection.connection.driver_connection


def _postgres_type(type_: pa.DataType) -> str:
    if pa.types.is_fixed_size_list(type_):
        return f"vector({int(type_.list_size)})"
    if pa.types.is_timestamp(type_):
        return "timestamptz"
    if type_ not in _POSTGRES_TYPES:
        raise TypeError(f"no Postgres type for Arrow's {type_}")
    return _POSTGRES_TYPES[type_]


_POSTGRES_TYPES: Final = {
    pa.string(): "text",
    pa.large_string(): "text",
    pa.int32(): "int4",
    pa.int64(): "int8",
    pa.float32(): "float4",
    pa.float64(): "float8",
    pa.bool_(): "bool",
}


def _python_values(column: pa.Array) -> list[Any]:
    if pa.types.is_fixed_size_list(column.type):
        matrix = column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), column.type.list_size)
        return [Vector(row) for row in matrix]
    values: list[Any] = column.to_pylist()
    return values


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
}


def _description(result: sa.CursorResult[Any]) -> Sequence[Any]:
    return result.cursor.description or ()


def _arrow_types(connection: sa.Connection, result: sa.CursorResult[Any]) -> list[pa.DataType | None]:
    raw = _raw(connection)
    found: list[pa.DataType | None] = []
    for column in _description(result):
        info = raw.adapters.types.get(column.type_code)
        if info is None:  # pgvector's own type: its oid differs from server to server
            register_vector(raw) if TypeInfo.fetch(raw, "vector") else None
            found.append(None)
        else:
            found.append(_ARROW_TYPES.get(info.name, pa.string()))
    return found


def _arrow_table(names: list[str], types: list[pa.DataType | None], rows: Sequence[Any]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    arrays = [_arrow_array(values, type_) for values, type_ in zip(columns, types, strict=True)]
    return pa.Table.from_arrays(arrays, names=names)


def _arrow_array(values: Sequence[Any], type_: pa.DataType | None) -> pa.Array:
    if type_ is None:
        return _vector_array(values)
    if type_ == pa.string():
        return pa.array([None if value is None else str(value) for value in values], type=type_)
    return pa.array(values, type=type_)


def _vector_array(values: Sequence[Any]) -> pa.Array:
    if not values:
        return pa.array([], type=pa.list_(pa.float32()))
    vectors = [_vector(value) for value in values]
    matrix = np.stack(vectors)
    return pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel()), matrix.shape[1])


def _vector(value: Any) -> np.ndarray[Any, np.dtype[np.float32]]:
    if isinstance(value, str):
        value = Vector.from_text(value)
    return np.asarray(value.to_numpy(), dtype=np.float32)
