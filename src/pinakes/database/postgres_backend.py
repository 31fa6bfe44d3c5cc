"""What only Postgres says: temporary tables filled by binary COPY, server-side cursors, one writer's lock."""

import re
from collections.abc import Callable, Generator, Sequence, Set
from contextlib import closing
from itertools import islice
from typing import Any, Final, get_args
from uuid import uuid4

import pyarrow as pa
import sqlalchemy as sa
from psycopg import capabilities, sql

from pinakes.database.backend import ArrowResult, JoinKind, RawResult, find_dimensions
from pinakes.database.binary_copy import HEADER, TRAILER, decode_tuples, encode_tuples
from pinakes.database.packed_numbers import Numbers, pack_numbers, unpack_numbers
from pinakes.database.postgres_arrow import (
    find_arrow_types,
    find_list_type,
    find_postgres_type,
    make_arrow_table,
)
from pinakes.database.postgres_questions import Answer, open_question
from pinakes.database.sessions import lock_writers
from pinakes.progress import say_nothing

_STEPS: Final = 8
"""sorts and hash tables of a statement that may be held at once, counted with care: a hash table takes two"""
ROWS_AT_ONCE: Final = 2_000
"""of the driver that become columns of Arrow: of 50,000 each takes twice as long"""
PACKED_AT_ONCE: Final = 100
"""rows that are held of an answer as it comes, by a libpq that can (17 and newer); else one"""
_RAISE_MEMORY: Final = """
SELECT SET_CONFIG('work_mem', CAST(:kilobytes AS TEXT), TRUE)
FROM pg_catalog.pg_settings
WHERE name = 'work_mem' AND CAST(setting AS BIGINT) < :kilobytes AND source <> 'client'
"""
# By default a row that a worker hands on is taken to cost as much as ten that it reads, and sorts of millions
# of rows are left to one process.
_SHARE_WORK: Final = """
SELECT SET_CONFIG(name, '0', TRUE)
FROM pg_catalog.pg_settings
WHERE name IN ('parallel_setup_cost', 'parallel_tuple_cost') AND source <> 'client'
"""
_COUNT_STAGED: Final = """
SET LOCAL default_statistics_target = 10;
ANALYZE {};
RESET default_statistics_target
"""
"""a tenth of the rows that are looked at by default tells the planner as much of a table that is read once"""
_MAY_CREATE: Final = "SELECT HAS_SCHEMA_PRIVILEGE(CURRENT_SCHEMA(), 'CREATE')"

# On a standby the text of a snapshot does not name all transactions that are in progress.
_DESCRIBE_STATE: Final = """
SELECT pg_is_in_recovery() AS is_standby,
       CAST(pg_current_snapshot() AS text) AS snapshot,
       pg_postmaster_start_time() AS started,
       (SELECT stats_reset FROM pg_stat_bgwriter) AS last_crash,
       (SELECT oid FROM pg_database WHERE datname = current_database()) AS database,
       CAST(current_schemas(true) AS text) AS schemas,
       current_user AS reader
"""


class PostgresBackend:
    """Postgres 16 or newer through psycopg 3, with pgvector."""

    name: Final = "postgresql"
    stages_in_place: Final = False

    def __init__(self, tell: Callable[[str], None] = say_nothing, memory: int = 0) -> None:
        """`tell` takes a line for the user on whom a transaction waits for.

        `memory` are the bytes that a statement may take on the server, where `raise_memory` is called.
        """
        self._tell = tell
        self._memory = memory

    def describe_state(self, connection: sa.Connection) -> str | None:
        """The snapshot: who reads by one of the same transactions reads the same rows. None on a standby.

        A server that starts anew, from a backup too, may give transactions' numbers again; so its start, and
        the last loss of its statistics, which is what a crash costs it, are part of it.
        """
        row = connection.execute(sa.text(_DESCRIBE_STATE)).one()
        return None if row.is_standby else "\n".join(map(str, row))

    def prepare_write(self, connection: sa.Connection) -> None:
        """Wait for other writers of Pinakes, so that ids are handed out one transaction after the other."""
        lock_writers(connection, self._tell)

    def prepare_read(self, connection: sa.Connection) -> None:
        """Read one snapshot, however many statements follow."""
        connection.execute(sa.text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))

    def limit_memory(self, connection: sa.Connection, size: int | None) -> None:
        """Nothing to do: the server has its own settings."""

    def raise_memory(self, connection: sa.Connection) -> None:
        """Raise `work_mem` until the transaction's end, but not where the URL sets it or the server has more.

        By default it is 4 MB, with which millions of rows go to temporary files again and again.

        Its workers take part wherever they can: each may take as much memory as the session itself.
        """
        connection.execute(sa.text(_RAISE_MEMORY), {"kilobytes": self._memory // _STEPS // 1024})
        connection.execute(sa.text(_SHARE_WORK))

    def avoid_joins(self, connection: sa.Connection, kinds: Set[JoinKind]) -> None:
        """Turn these kinds of joins off, and the others to what they were when the session began."""
        for kind in get_args(JoinKind):
            connection.execute(
                sa.text(f"SET LOCAL enable_{kind}join TO {'off' if kind in kinds else 'DEFAULT'}")
            )

    def tidy(self, connection: sa.Connection, tables: Sequence[str]) -> None:
        """VACUUM (ANALYZE) each, or else whoever reads many new rows first has to mark each as committed.

        Until then no index serves without its table, and the planner takes a new table to be nearly empty. A
        table of another user is passed over with a warning.
        """
        outside = connection.execution_options(isolation_level="AUTOCOMMIT")
        quote = connection.dialect.identifier_preparer.quote
        for table in tables:
            outside.execute(sa.text(f"VACUUM (ANALYZE, TRUNCATE FALSE) {quote(table)}"))

    def name_scratch(self, connection: sa.Connection) -> str:
        """`UNLOGGED`, since workers read no temporary table; `TEMPORARY` where the user may no more."""
        return "UNLOGGED" if connection.execute(sa.text(_MAY_CREATE)).scalar() else "TEMPORARY"

    def stage(self, connection: sa.Connection, name: str, rows: pa.Table) -> None:
        """Fill a temporary table of that name by binary COPY, without columns that are null throughout."""
        raw = _raw(connection)
        types = [find_postgres_type(field.type) for field in rows.schema]
        columns = sql.SQL(", ").join(
            sql.SQL("{} {}").format(sql.Identifier(field.name), sql.SQL(type_))
            for field, type_ in zip(rows.schema, types, strict=True)
        )
        table = sql.Identifier(name)
        with raw.cursor() as cursor:
            cursor.execute(sql.SQL("CREATE TEMPORARY TABLE {} ({}) ON COMMIT DROP").format(table, columns))
            bare = dict(zip(rows.column_names, map(_bare_type, types), strict=True))
            said = [name for name in bare if rows[name].null_count < rows.num_rows] or [*bare][:1]
            target = sql.SQL("{} ({})").format(table, sql.SQL(", ").join(map(sql.Identifier, said)))
            _copy(cursor, target, rows.select(said), [bare[name] for name in said])
            cursor.execute(sql.SQL(_COUNT_STAGED).format(table))

    def unstage(self, connection: sa.Connection, name: str) -> None:
        """Drop the temporary table."""
        with _raw(connection).cursor() as cursor:
            cursor.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier(name)))

    def append(self, connection: sa.Connection, table: sa.Table, rows: pa.Table) -> None:
        """Insert by binary COPY straight into the table; columns that are null throughout are not sent."""
        raw = _raw(connection)
        names = [name for name in rows.column_names if not _is_default(table.c[name], rows[name])]
        types = [_bare_type(str(table.c[name].type.compile(connection.dialect)).lower()) for name in names]
        columns = sql.SQL(", ").join(sql.Identifier(name) for name in names)
        target = sql.SQL("{} ({})").format(sql.Identifier(table.name), columns)
        with raw.cursor() as cursor:
            _copy(cursor, target, rows.select(names), types)

    def fetch_arrow(self, connection: sa.Connection, statement: sa.Executable) -> pa.Table:
        """The result, column by column, in Arrow types that follow the result's Postgres types."""
        raw = _raw(connection)
        if any(_find_lengths(statement).values()):  # vectors as bytes, not as texts of numbers
            with raw.cursor(binary=True) as cursor:
                cursor.execute(*_compile(connection, statement))
                return _make_table(raw, cursor)
        with connection.execute(statement) as result:
            return _make_table(raw, result.cursor)

    def fetch_numbers(self, connection: sa.Connection, query: sa.Select[Any]) -> list[Numbers]:
        """Each column packed into one value by the server: no row of millions is made Python's by itself."""
        (packed,) = self.stream_packed(connection, pack_numbers(query))
        return unpack_numbers(packed)

    def stream(self, connection: sa.Connection, statement: sa.Executable, rows: int) -> Generator[pa.Table]:
        """The result through a server-side cursor."""
        raw = _raw(connection)
        with raw.cursor(name=f"pinakes_{uuid4().hex}") as cursor:  # several may be open at once
            cursor.execute(*_compile(connection, statement))
            yield from filter(len, _make_tables(cursor.fetchmany, *_describe(raw, cursor), rows))

    def stream_vectors(
        self, connection: sa.Connection, query: sa.Select[Any], rows: int
    ) -> Generator[pa.Table]:
        """The result through a binary COPY: neither the server nor the driver makes anything row by row."""
        columns = _find_lengths(query)
        text, parameters = _compile(connection, query)
        # Without parameters `copy` takes the text as it is.
        copied = f"COPY ({text if parameters else text.replace('%%', '%')}) TO STDOUT (FORMAT BINARY)"
        with _raw(connection).cursor() as cursor, cursor.copy(copied, parameters) as parts:
            yield from decode_tuples(parts, columns, rows)

    def stream_packed(
        self, connection: sa.Connection, statement: sa.Executable
    ) -> Generator[tuple[Any, ...]]:
        """The result as it comes, in Postgres' binary format: a cursor would have no parallel workers."""
        text, parameters = _compile(connection, statement)
        size = PACKED_AT_ONCE if capabilities.has_stream_chunked() else 1
        with _raw(connection).cursor(binary=True) as cursor:
            yield from cursor.stream(text, parameters, size=size)

    def query(self, connection: sa.Connection, text: str, timeout_s: float | None) -> RawResult:
        """The result of the text, streamed where it is no EXPLAIN or SHOW."""
        answer = open_question(_raw(connection), text, timeout_s)
        return RawResult([column.name for column in answer.columns], answer.rows)

    def query_arrow(
        self, connection: sa.Connection, text: str, rows: int, timeout_s: float | None
    ) -> ArrowResult:
        """As `query`, in Arrow types that follow the result's."""
        answer = open_question(_raw(connection), text, timeout_s)
        names = [column.name for column in answer.columns]
        types = [
            find_list_type(_raw(connection), column.type_code) or type_
            for column, type_ in zip(
                answer.columns, find_arrow_types(_raw(connection), answer.columns), strict=True
            )
        ]
        declared = [
            pa.list_(pa.float32(), _count_dimensions(answer, place)) if type_ is None else type_
            for place, type_ in enumerate(types)
        ]
        schema = pa.schema(list(zip(names, declared, strict=True)))
        return ArrowResult(schema, _in_tables(answer, names, types, rows))


def _count_dimensions(answer: Answer, place: int) -> int:
    """The length of a vector column of a result; -1 where it is not declared."""
    return int(answer.described.fmod(place))


def _in_tables(
    answer: Answer, names: list[str], types: list[pa.DataType | None], rows: int
) -> Generator[pa.Table]:
    def fetch(count: int) -> list[tuple[Any, ...]]:
        return list(islice(answer.rows, count))

    with closing(answer.rows):
        yield from filter(len, _make_tables(fetch, names, types, rows))


def _is_default(column: sa.Column[Any], values: pa.ChunkedArray) -> bool:
    """Whether the values are what Postgres sets where it is given none: null."""
    may_be_null = bool(column.nullable) and column.server_default is None
    return may_be_null and int(values.null_count) == len(values)


def _copy(cursor: Any, target: sql.Composed, rows: pa.Table, types: Sequence[str]) -> None:
    with cursor.copy(sql.SQL("COPY {} FROM STDIN (FORMAT BINARY)").format(target)) as copy:
        copy.write(HEADER)
        for batch in rows.to_batches(max_chunksize=20_000):
            copy.write(encode_tuples(batch, types))
        copy.write(TRAILER)


def _bare_type(name: str) -> str:
    """A type's name without a text's collation and a vector's length."""
    return re.split(r" collate|\(", name, flags=re.IGNORECASE)[0]


def _describe(raw: Any, cursor: Any) -> tuple[list[str], list[pa.DataType | None]]:
    """The names of a result's columns and their Arrow types."""
    return [column.name for column in cursor.description], find_arrow_types(raw, cursor.description)


def _make_table(raw: Any, cursor: Any) -> pa.Table:
    """The whole result of a cursor."""
    return next(_make_tables(cursor.fetchmany, *_describe(raw, cursor), max(cursor.rowcount, 1)))


def _make_tables(
    fetch: Callable[[int], Sequence[Any]], names: list[str], types: list[pa.DataType | None], rows: int
) -> Generator[pa.Table]:
    """What `fetch` gives in tables of `rows` rows, and one of fewer, maybe none, at its end.

    Fetched are the driver's own rows, since SQLAlchemy's cost as much again, and few at a time: so they are
    made where those before them have been.
    """
    at_once = rows if None in types else ROWS_AT_ONCE  # vectors of one table show their length
    is_more = True
    while is_more:
        parts: list[pa.Table] = []
        wanted = rows
        while is_more and wanted:
            asked = min(wanted, at_once)
            found = fetch(asked)
            parts.append(make_arrow_table(names, types, found))
            is_more = len(found) == asked
            wanted -= asked
        yield pa.concat_tables(parts).combine_chunks()


def _find_lengths(statement: sa.Executable) -> dict[str, int | None]:
    """Column -> the length of its vectors, of those that pgvector declares; None of all others."""
    columns: Any = getattr(statement, "selected_columns", ())
    return {column.name: find_dimensions(column.type) for column in columns}


def _compile(connection: sa.Connection, statement: Any) -> tuple[str, Any]:
    """The statement as the driver takes it, and its parameters."""
    options = {"render_postcompile": True}
    compiled = statement.compile(dialect=connection.dialect, compile_kwargs=options)
    return str(compiled), compiled.params


def _raw(connection: sa.Connection) -> Any:
    return connection.connection.driver_connection
