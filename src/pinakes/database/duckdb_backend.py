"""What only DuckDB says: Arrow tables are registered and results are fetched as Arrow."""

import threading
from collections.abc import Generator, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
import pyarrow as pa
import sqlalchemy as sa

from pinakes.database.address import find_file
from pinakes.database.backend import ArrowResult, JoinKind, RawResult
from pinakes.database.duckdb_questions import refusing
from pinakes.database.file_state import describe_file_state
from pinakes.database.packed_numbers import Numbers
from pinakes.python_values import find_python_type


class _Staged:
    """Rows that DuckDB reads while they are staged.

    DuckDB keeps what was registered until the transaction ends, unregistered or not: so it gets this, which
    lets go of the rows.
    """

    def __init__(self, rows: pa.Table) -> None:
        self._rows: pa.Table | None = rows

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        if self._rows is None:
            raise AssertionError("rows that are no longer staged are read")
        return self._rows.__arrow_c_stream__(requested_schema)

    def release(self) -> None:
        self._rows = None


class DuckdbBackend:
    """DuckDB through duckdb-engine."""

    name: Final = "duckdb"
    stages_in_place: Final = True

    def __init__(self, memory: int | None = None) -> None:
        """`memory` is the limit in bytes that DuckDB was opened with; None: its address gives its own."""
        self._memory = memory
        self._staged: dict[tuple[int, str], _Staged] = {}  # by connection and name

    def describe_state(self, connection: sa.Connection) -> str | None:
        """That of the file; the connection has it open. None of a database in memory."""
        file = find_file(connection.engine.url)
        return None if file is None else describe_file_state(file)

    def prepare_write(self, connection: sa.Connection) -> None:
        """Nothing to do: a DuckDB file has one writing process, and its transactions conflict by row."""

    def prepare_read(self, connection: sa.Connection) -> None:
        """Nothing to do: every transaction of DuckDB reads one snapshot."""

    def stage(self, connection: sa.Connection, name: str, rows: pa.Table) -> None:
        """Register the Arrow table under the name; nothing is copied."""
        raw, staged = _raw(connection), _Staged(rows)
        raw.register(name, staged)
        self._staged[id(raw), name] = staged

    def unstage(self, connection: sa.Connection, name: str) -> None:
        """Unregister the name."""
        raw = _raw(connection)
        if (staged := self._staged.pop((id(raw), name), None)) is not None:
            staged.release()
        raw.unregister(name)

    def append(self, connection: sa.Connection, table: sa.Table, rows: pa.Table) -> None:
        """Insert from the Arrow table in place."""
        names = list(rows.column_names)
        source = sa.table("staged_rows", *(sa.column(name) for name in names))
        values = [sa.cast(source.c[name], table.c[name].type) for name in names]
        self.stage(connection, "staged_rows", rows)
        connection.execute(sa.insert(table).from_select(names, sa.select(*values)))
        self.unstage(connection, "staged_rows")

    def limit_memory(self, connection: sa.Connection, size: int | None) -> None:
        """Set DuckDB's limit, never above the one that it was opened with; None: back to that."""
        if self._memory is not None:
            limit = self._memory if size is None else min(size, self._memory)
            _raw(connection).execute(f"SET memory_limit = '{limit}B'")

    def raise_memory(self, connection: sa.Connection) -> None:
        """Nothing to do: DuckDB has its memory from the start."""

    def avoid_joins(self, connection: sa.Connection, kinds: Set[JoinKind]) -> None:
        """Nothing to do: DuckDB reads the columns that a join needs, and no others."""

    def tidy(self, connection: sa.Connection, tables: Sequence[str]) -> None:
        """Nothing to do: DuckDB counts its rows as it writes them."""

    def name_scratch(self, connection: sa.Connection) -> str:
        """`TEMPORARY`."""
        return "TEMPORARY"

    def fetch_arrow(self, connection: sa.Connection, statement: sa.Executable) -> pa.Table:
        """The result through DuckDB's own Arrow export."""
        return _unify_types(_relation(connection, statement).to_arrow_table())

    def fetch_numbers(self, connection: sa.Connection, query: sa.Select[Any]) -> list[Numbers]:
        """The result through DuckDB's own Arrow export."""
        columns = self.fetch_arrow(connection, query).columns
        if any(column.null_count for column in columns):
            raise ValueError("a number that is to be packed is null")
        return [column.to_numpy().astype(np.int64, copy=False) for column in columns]

    def stream(self, connection: sa.Connection, statement: sa.Executable, rows: int) -> Generator[pa.Table]:
        """The result through DuckDB's record batch reader."""
        with _relation(connection, statement).to_arrow_reader(rows) as reader:
            yield from _tables(reader)

    def stream_vectors(
        self, connection: sa.Connection, query: sa.Select[Any], rows: int
    ) -> Generator[pa.Table]:
        """The result through DuckDB's record batch reader."""
        for part in self.stream(connection, query, rows):
            if any(column.null_count for column in part.columns):
                raise ValueError("a field of a query of vectors is null")
            yield part

    def stream_packed(
        self, connection: sa.Connection, statement: sa.Executable
    ) -> Generator[tuple[Any, ...]]:
        """The result through DuckDB's record batch reader."""
        for part in self.stream(connection, statement, 2_048):
            yield from zip(*(column.to_pylist() for column in part.columns), strict=True)

    def query(self, connection: sa.Connection, text: str, timeout_s: float | None) -> RawResult:
        """The result of the text through DuckDB's cursor."""
        cursor = _raw(connection).cursor()
        with refusing(cursor, text), _interrupting(cursor, timeout_s):
            cursor.execute(text)
        columns = [str(column[0]) for column in cursor.description or ()]
        return RawResult(columns, _rows(cursor, timeout_s))

    def query_arrow(
        self, connection: sa.Connection, text: str, rows: int, timeout_s: float | None
    ) -> ArrowResult:
        """The result of the text through DuckDB's record batch reader."""
        cursor = _raw(connection).cursor()
        with refusing(cursor, text), _interrupting(cursor, timeout_s):
            relation = cursor.sql(text)
            if relation is None:  # a statement that gives no rows
                return ArrowResult(pa.schema([]), _tables(()))
            reader = relation.to_arrow_reader(rows)
        schema = _unify_types(reader.schema.empty_table()).schema
        return ArrowResult(schema, _tables(_batches(cursor, reader, timeout_s)))


@contextmanager
def _interrupting(cursor: Any, timeout_s: float | None) -> Iterator[None]:
    """Interrupt the cursor where what is within takes longer than so many seconds."""
    if timeout_s is None:
        yield
        return
    timer = threading.Timer(timeout_s, cursor.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _rows(cursor: Any, timeout_s: float | None) -> Generator[tuple[Any, ...]]:
    while True:
        with _interrupting(cursor, timeout_s):
            part = cursor.fetchmany(1_000)
        if not part:
            return
        yield from part


def _batches(cursor: Any, reader: Any, timeout_s: float | None) -> Generator[pa.RecordBatch]:
    while True:
        with _interrupting(cursor, timeout_s):
            batch = next(reader, None)
        if batch is None:
            return
        yield batch


def _tables(batches: Iterable[pa.RecordBatch]) -> Generator[pa.Table]:
    for batch in batches:
        yield _unify_types(pa.Table.from_batches([batch]))


def _raw(connection: sa.Connection) -> Any:
    return connection.connection.driver_connection


def _relation(connection: sa.Connection, statement: sa.Executable) -> Any:
    compiled = statement.compile(  # type: ignore[attr-defined]
        dialect=connection.dialect, compile_kwargs={"render_postcompile": True}
    )
    order = compiled.positiontup or []
    return _raw(connection).sql(str(compiled), params=[compiled.params[name] for name in order])


def _unify_types(rows: pa.Table) -> pa.Table:
    """The types that Postgres gives too: decimals (sums) as floats, times in microseconds and in UTC."""
    for place, field in enumerate(rows.schema):
        if pa.types.is_decimal(field.type) and field.type.scale > 0:
            # By their text: Arrow multiplies by a power of ten, and 95.35 would become 95.35000000000001.
            rows = rows.set_column(place, field.name, rows.column(place).cast(pa.string()).cast(pa.float64()))
    unified = pa.schema([field.with_type(_unify_type(field.type)) for field in rows.schema])
    # Not cast in vain: the first cast of a process imports pyarrow.compute.
    return rows if unified.equals(rows.schema) else rows.cast(unified, safe=False)


def _unify_type(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_decimal(type_):
        return pa.float64()
    if pa.types.is_timestamp(type_) and type_.tz is not None:
        return pa.timestamp("us", tz="UTC")
    return find_python_type(type_)
