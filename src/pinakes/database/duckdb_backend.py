"""What only DuckDB says: Arrow tables are registered and results are fetched as Arrow."""

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa
import sqlalchemy as sa


class DuckdbBackend:
    """DuckDB through duckdb-engine."""

    name: Final = "duckdb"

    def prepare_write(self, connection: sa.Connection) -> None:
        """Nothing to do: a DuckDB file has one writing process, and its transactions conflict by row."""

    def stage(self, connection: sa.Connection, name: str, rows: pa.Table) -> None:
        """Register the Arrow table under the name; nothing is copied."""
        _raw(connection).register(name, rows)

    def unstage(self, connection: sa.Connection, name: str) -> None:
        """Unregister the name."""
        _raw(connection).unregister(name)

    def fetch_arrow(self, connection: sa.Connection, statement: sa.Executable) -> pa.Table:
        """The result through DuckDB's own Arrow export."""
        return _relation(connection, statement).to_arrow_table()

    def stream(self, connection: sa.Connection, statement: sa.Executable, rows: int) -> Iterator[pa.Table]:
        """The result through DuckDB's record batch reader."""
        for batch in _relation(connection, statement).to_arrow_reader(rows):
            yield pa.Table.from_batches([batch])


def _raw(connection: sa.Connection) -> Any:
    return connection.connection.driver_connection


def _relation(connection: sa.Connection, statement: sa.Executable) -> Any:
    compiled = statement.compile(dialect=connection.dialect)  # type: ignore[attr-defined]
    order = compiled.positiontup or []
    return _raw(connection).sql(str(compiled), params=[compiled.params[name] for name in order])
