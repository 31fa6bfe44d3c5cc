"""`Database` and `Session`: transactions, staging and Arrow results, the same for both databases.

The two are one module since neither is whole alone: what a session leaves open, a result or DuckDB's log,
ends in the methods of the database that opens it.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping, Set
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from typing import Any, Final, TypeVar

import pyarrow as pa
import sqlalchemy as sa

from pinakes.database.backend import ArrowResult, Backend, JoinKind, RawResult, find_dimensions
from pinakes.database.checkpoint import LARGE_LOG, SMALL_LOG, Log
from pinakes.database.compiled import Text
from pinakes.database.driver_errors import driver_errors, translated
from pinakes.database.packed_numbers import Numbers
from pinakes.database.waiting import Waiting
from pinakes.errors import DatabaseError

REOPEN_S: Final = 600.0
"""seconds for which a command that released a DuckDB file waits for it at least: its work would be lost"""

Statement = sa.Executable | str
_Part = TypeVar("_Part")
Parameters = Mapping[str, Any]


class Session:
    """One transaction. Made by `Database.begin` and `Database.read`."""

    def __init__(self, connection: sa.Connection, backend: Backend) -> None:
        self.connection = connection
        self.backend = backend
        self._results: list[Generator[Any]] = []

    def close_results(self) -> None:
        """Let go of every result that was not read to its end, as after an error in its middle.

        DuckDB cannot end a transaction that has an open result: its connection would be thrown away, and
        the next one to the same file would wait for the result for ever.
        """
        for result in self._results:
            result.close()
        self._results.clear()

    def raise_memory(self) -> None:
        """Let what follows sort and join whole tables in memory; for this transaction, and on Postgres alone.

        Each of its sorts may take an eighth of the memory that was planned for the database.
        """
        with translated():
            self.backend.raise_memory(self.connection)

    def joined_by_index(self) -> AbstractContextManager[None]:
        """Have few rows find theirs in a large table by its index meanwhile, as many of them as there are.

        Postgres would read all of a table of long rows, since it does not know that most find none.
        """
        return self._avoiding({"hash", "merge"})

    def joined_in_order(self) -> AbstractContextManager[None]:
        """Have large tables joined in the order of their indexes meanwhile.

        Postgres would hash millions of rows to look each of many more up among them.
        """
        return self._avoiding({"hash"})

    @contextmanager
    def _avoiding(self, joins: Set[JoinKind]) -> Iterator[None]:
        with translated():
            self.backend.avoid_joins(self.connection, joins)
        yield
        with translated():
            self.backend.avoid_joins(self.connection, set())

    def name_scratch(self) -> str:
        """`TEMPORARY` or `UNLOGGED`: what a table is made as that this transaction makes and drops again."""
        with translated():
            return self.backend.name_scratch(self.connection)

    def execute(self, statement: Statement, parameters: Parameters | None = None) -> int:
        """Run a statement that gives no rows; the number of rows that it changed, -1 if unknown."""
        with translated():
            result = self.connection.execute(_executable(statement), dict(parameters or {}))
            if not result.returns_rows:
                return int(result.rowcount)
            # DuckDB answers an INSERT, UPDATE or DELETE with one row, whose one column is named Count.
            row = result.first()
            return int(row[0]) if row is not None and tuple(result.keys()) == ("Count",) else -1

    def execute_as_written(self, text: str) -> None:
        """Run a statement that defines something; no colon or per cent sign in it is a parameter."""
        self.execute(sa.DDL(text.replace("%", "%%")))  # type: ignore[no-untyped-call]

    def rows(self, statement: Statement, parameters: Parameters | None = None) -> list[dict[str, Any]]:
        """All rows of a query, each a dict by column name."""
        with translated():
            result = self.connection.execute(_executable(statement), dict(parameters or {}))
            return [dict(row) for row in result.mappings().all()]

    def first(self, statement: Statement, parameters: Parameters | None = None) -> dict[str, Any] | None:
        """The first row of a query, a dict by column name; None where there is no row."""
        return next(iter(self.rows(statement, parameters)), None)

    def scalar(self, statement: Statement, parameters: Parameters | None = None) -> Any:
        """The first column of the first row; None where there is no row."""
        row = self.first(statement, parameters)
        return None if row is None else next(iter(row.values()))

    def fetch_arrow(self, statement: Statement, parameters: Parameters | None = None) -> pa.Table:
        """All rows of a query as an Arrow table; a UUID comes as text, a vector as a fixed-size list."""
        with translated():
            return self.backend.fetch_arrow(self.connection, _bound(statement, parameters))

    def fetch_numbers(self, query: sa.Select[Any]) -> list[Numbers]:
        """The columns of a query of whole numbers, of millions of rows too.

        In no order. Raises `ValueError` where a number is null.
        """
        with translated():
            return self.backend.fetch_numbers(self.connection, query)

    def stream(
        self, statement: Statement, parameters: Parameters | None = None, *, rows: int = 50_000
    ) -> Iterator[pa.Table]:
        """The rows of a query in Arrow tables of about `rows` rows, in constant memory.

        Until the iterator is exhausted the session must not be used for anything else.
        """
        return self._hand_out(self.backend.stream(self.connection, _bound(statement, parameters), rows))

    def stream_vectors(self, query: sa.Select[Any], *, rows: int = 16_384) -> Iterator[pa.Table]:
        """As `stream`, of vectors with whole numbers and UUIDs beside them: Postgres hands them out faster.

        Raises `ValueError` where a field is null, and `TypeError` for columns of other types.
        """
        for column in query.selected_columns:
            if not (find_dimensions(column.type) or isinstance(column.type, sa.Integer | sa.Uuid)):
                raise TypeError(f"{column.name} is not declared as a vector, a whole number or a UUID")
        return self._hand_out(self.backend.stream_vectors(self.connection, query, rows))

    def stream_rows(
        self, statement: Statement, parameters: Parameters | None = None, *, rows: int = 50_000
    ) -> Iterator[tuple[Any, ...]]:
        """The rows of a query one by one, in constant memory, as `stream` reads them."""
        for part in self.stream(statement, parameters, rows=rows):
            yield from zip(*(column.to_pylist() for column in part.columns), strict=True)

    def stream_packed(
        self, statement: Statement, parameters: Parameters | None = None
    ) -> Iterator[tuple[Any, ...]]:
        """As `stream_rows`, of a query whose rows are few and large: Postgres has its workers pack them.

        In no order, unless the query says one. Bytes come as bytes.
        """
        return self._hand_out(self.backend.stream_packed(self.connection, _bound(statement, parameters)))

    def _hand_out(self, result: Generator[_Part]) -> Generator[_Part]:
        """The parts of a result, which is known as open from the first to the last."""
        with translated():
            self._results.append(result)
            yield from result
            self._results.remove(result)

    def query(self, text: str, *, timeout_s: float | None = None) -> RawResult:
        """The result of a user's own query, word for word."""
        with translated():
            result = self.backend.query(self.connection, text, timeout_s)
        self._results.append(result.rows)
        return result

    def query_arrow(self, text: str, *, rows: int = 50_000, timeout_s: float | None = None) -> ArrowResult:
        """The result of a user's own query, word for word, in Arrow tables, in constant memory."""
        with translated():
            result = self.backend.query_arrow(self.connection, text, rows, timeout_s)
        self._results.append(result.parts)
        return result

    @contextmanager
    def staged(self, tables: Mapping[str, pa.Table]) -> Iterator[None]:
        """Make Arrow tables visible to SQL under their names: on DuckDB in place, on Postgres by COPY."""
        with translated():
            for name, rows in tables.items():
                self.backend.stage(self.connection, name, rows)
        try:
            yield
        except BaseException:
            # After an error the database may refuse; then the rollback takes the names back.
            with suppress(*driver_errors(), sa.exc.PendingRollbackError):
                self._unstage(tables)
            raise
        with translated():
            self._unstage(tables)

    def _unstage(self, names: Iterable[str]) -> None:
        for name in names:
            self.backend.unstage(self.connection, name)

    def insert(self, table: sa.Table, rows: pa.Table) -> int:
        """Insert all rows in bulk; the Arrow columns must be columns of the table. Returns their number."""
        if rows.num_rows == 0:
            return 0
        with translated():
            self.backend.append(self.connection, table, rows)
        return int(rows.num_rows)


class Database:
    """One database. Close it when done: a DuckDB file is held by one process at a time."""

    def __init__(
        self, engine: sa.Engine, backend: Backend, waiting: Waiting | None = None, log: Log | None = None
    ) -> None:
        """`waiting` is how long and how loudly to wait for a file that was released; `log` is of a DuckDB
        file that may be written."""
        self.engine = engine
        self.backend = backend
        self._waiting = waiting or Waiting()
        self._log = log

    @property
    def name(self) -> str:
        """`duckdb` or `postgresql`."""
        return self.backend.name

    @property
    def url(self) -> sa.URL:
        """Where the database is; its text hides the password."""
        return self.engine.url.set(drivername="duckdb" if self.name == "duckdb" else "postgresql+psycopg")

    @contextmanager
    def begin(self) -> Iterator[Session]:
        """A transaction that writes: committed at the end, rolled back on any error. One at a time."""
        with translated(), self.connect() as connection, connection.begin():
            self.backend.prepare_write(connection)
            with self._open(connection) as session:
                yield session
        self._fold_log(LARGE_LOG)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A transaction that is rolled back at the end: a snapshot to read from."""
        with translated(), self.connect() as connection:
            self.backend.prepare_read(connection)
            with self._open(connection) as session:
                yield session

    @contextmanager
    def rehearse(self) -> Iterator["Database"]:
        """This database with all its transactions made one, which is rolled back at the end."""
        with translated(), self.connect() as connection:
            self.backend.prepare_write(connection)
            with self._open(connection) as session:
                yield _InOneSession(self, session)
            connection.rollback()

    @contextmanager
    def in_one_transaction(self) -> Iterator["Database"]:
        """This database with all its transactions made one, which is committed at the end."""
        with self.begin() as session:
            yield _InOneSession(self, session)

    @contextmanager
    def limit_memory(self, size: int) -> Iterator[None]:
        """Have DuckDB hold at most so many bytes for a while; the rest goes to its temporary folder."""
        with self.read() as session:
            self.backend.limit_memory(session.connection, size)
        try:
            yield
        finally:
            with suppress(*driver_errors(), DatabaseError), self.read() as session:
                self.backend.limit_memory(session.connection, None)

    @contextmanager
    def _open(self, connection: sa.Connection) -> Iterator[Session]:
        session = Session(connection, self.backend)
        try:
            yield session
        finally:
            session.close_results()

    def tidy(self, tables: Iterable[str]) -> None:
        """Prepare many new rows of the tables for who reads them, and count them for the query planner.

        Call it when they are committed. Postgres would do so by itself, after a while.
        """
        with translated(), self.connect() as connection:
            self.backend.tidy(connection, list(tables))

    def release(self) -> None:
        """Release the DuckDB file to other processes until the next transaction; nothing on Postgres.

        The next transaction waits for whoever holds the file then, `REOPEN_S` seconds or longer, and finds
        what they wrote. A session that is open keeps the file. What `limit_memory` set is forgotten.
        """
        if self.name == "duckdb" and self.engine.url.database not in (None, "", ":memory:"):
            self._fold_log(SMALL_LOG)
            self.engine.dispose()
            self._waiting = self._waiting.renew(REOPEN_S)

    def describe_state(self) -> str | None:
        """What tells the rows that are committed now from those of any other moment, without reading them.

        Two that are equal are of the same rows, whatever wrote them; two that differ may be. None of a
        database that does not show it: one in memory, and a standby of Postgres.
        """
        with translated(), self.connect() as connection:
            return self.backend.describe_state(connection)

    def _fold_log(self, size: int) -> None:
        """Fold DuckDB's log into its file where it has so many bytes, and leave it where that cannot be."""
        if self._log is None or self._log.size < size:
            return
        with suppress(*driver_errors(), DatabaseError, OSError), closing(self.engine.raw_connection()) as raw:
            self._log.fold(raw.driver_connection)

    def connect(self) -> sa.Connection:
        """A connection; to a DuckDB file that another process holds, after waiting for it.

        Raises:
            DatabaseBusyError: the time to wait is up.
        """
        return self._waiting.until_free(self._try_to_connect)

    def _try_to_connect(self) -> sa.Connection:
        with translated():
            return self.engine.connect()

    @contextmanager
    def open_to_write(self) -> Iterator["Database"]:
        """The database, where it can be written: this one, unless it was opened to be looked at.

        Such a one releases its file meanwhile, and finds afterwards what was written.
        """
        yield self

    def close(self) -> None:
        """Give the connections back; on DuckDB, fold the log into the file and release it."""
        self._fold_log(1)
        self.engine.dispose()

    def __enter__(self) -> "Database":
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()


class _InOneSession(Database):
    """A database every transaction of which is the same open session."""

    def __init__(self, database: Database, session: Session) -> None:
        super().__init__(database.engine, database.backend)
        self._session = session

    @contextmanager
    def begin(self) -> Iterator[Session]:
        """The one session; nothing is committed here."""
        yield self._session

    @contextmanager
    def read(self) -> Iterator[Session]:
        """The one session, with all that was written in it."""
        yield self._session

    def tidy(self, tables: Iterable[str]) -> None:
        """Nothing is done: what the session has written is not committed."""

    def describe_state(self) -> str | None:
        """None: what the session has written is not committed."""
        return None


def _executable(statement: Statement) -> sa.Executable:
    return Text(statement) if isinstance(statement, str) else statement


def _bound(statement: Statement, parameters: Parameters | None) -> sa.Executable:
    executable = _executable(statement)
    if not parameters:
        return executable
    return executable.params(**parameters)  # type: ignore[attr-defined, no-any-return]
