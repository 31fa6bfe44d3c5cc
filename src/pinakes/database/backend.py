"""`Backend`: what DuckDB and Postgres say differently, and the results that it hands out."""

from collections.abc import Generator, Sequence, Set
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import pyarrow as pa
import sqlalchemy as sa

from pinakes.database.packed_numbers import Numbers

JoinKind = Literal["hash", "merge"]
"""how a planner may join two tables, beside looking up each row of one"""


@dataclass(frozen=True, slots=True)
class RawResult:
    """The columns of a user's own query and its rows, as they come."""

    columns: list[str]
    rows: Generator[tuple[Any, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class ArrowResult:
    """The columns of a query and its rows in Arrow tables, as they come."""

    schema: pa.Schema
    parts: Generator[pa.Table]


def find_dimensions(type_: sa.types.TypeEngine[Any]) -> int | None:
    """The length of a column's vectors; None of any other column."""
    return getattr(type_, "dimensions", None) if isinstance(type_, sa.types.UserDefinedType) else None


class Backend(Protocol):
    """What DuckDB and Postgres say differently."""

    @property
    def name(self) -> str:
        """`duckdb` or `postgresql`."""

    @property
    def stages_in_place(self) -> bool:
        """Whether staging rows copies and writes nothing."""

    def describe_state(self, connection: sa.Connection) -> str | None:
        """As `Database.describe_state`."""

    def prepare_write(self, connection: sa.Connection) -> None:
        """Make this transaction the only writer."""

    def prepare_read(self, connection: sa.Connection) -> None:
        """Make all that this transaction reads one snapshot."""

    def limit_memory(self, connection: sa.Connection, size: int | None) -> None:
        """Limit the bytes that the database holds in this process; None: to what it was opened with."""

    def raise_memory(self, connection: sa.Connection) -> None:
        """Let this transaction's sorts and joins take the memory that was planned for the database."""

    def avoid_joins(self, connection: sa.Connection, kinds: Set[JoinKind]) -> None:
        """Have this transaction join in no way of these; of none: again as the planner thinks best."""

    def tidy(self, connection: sa.Connection, tables: Sequence[str]) -> None:
        """Prepare many new, committed rows of the tables for who reads them."""

    def name_scratch(self, connection: sa.Connection) -> str:
        """What stands between CREATE and TABLE for a table that this transaction makes and drops again."""

    def stage(self, connection: sa.Connection, name: str, rows: pa.Table) -> None:
        """Make the rows visible to SQL under the name until the transaction ends."""

    def unstage(self, connection: sa.Connection, name: str) -> None:
        """Take a staged name back."""

    def append(self, connection: sa.Connection, table: sa.Table, rows: pa.Table) -> None:
        """Insert the rows, whose columns are columns of the table."""

    def fetch_arrow(self, connection: sa.Connection, statement: sa.Executable) -> pa.Table:
        """The whole result of a query as an Arrow table."""

    def fetch_numbers(self, connection: sa.Connection, query: sa.Select[Any]) -> list[Numbers]:
        """The columns of a query of whole numbers, none of them null."""

    def stream(self, connection: sa.Connection, statement: sa.Executable, rows: int) -> Generator[pa.Table]:
        """The result of a query in Arrow tables of about `rows` rows."""

    def stream_vectors(
        self, connection: sa.Connection, query: sa.Select[Any], rows: int
    ) -> Generator[pa.Table]:
        """The same of a query of vectors, whole numbers and UUIDs, none of them null."""

    def stream_packed(
        self, connection: sa.Connection, statement: sa.Executable
    ) -> Generator[tuple[Any, ...]]:
        """The rows of a query one by one, of which each packs many values."""

    def query(self, connection: sa.Connection, text: str, timeout_s: float | None) -> RawResult:
        """The result of one query as the user wrote it; nothing in it is taken for a parameter.

        No step of it takes longer than `timeout_s` seconds.
        """

    def query_arrow(
        self, connection: sa.Connection, text: str, rows: int, timeout_s: float | None
    ) -> ArrowResult:
        """The same in Arrow tables of about `rows` rows."""
