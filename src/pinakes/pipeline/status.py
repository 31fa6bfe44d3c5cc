"""What a database holds, whether its rows fit together, and a user's own questions to it.

Leaves out: changing anything.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pinakes.database import Database
from pinakes.database.driver_errors import DRIVER_ERRORS, explain
from pinakes.database.results import RawResult
from pinakes.database.sql_blocks import read_blocks
from pinakes.errors import InputError
from pinakes.schema import check_schema


def read_status(database: Database) -> dict[str, list[dict[str, Any]]]:
    """Corpora, loads, encoders, side indexes and runs, each a list of rows.

    Raises:
        SchemaVersionError: the database has no tables, or others.
    """
    check_schema(database)
    with database.read() as session:
        return {
            name: session.rows(statement)
            for name, statement in read_blocks("pinakes.pipeline", "sql", "status.sql").items()
        }


def find_orphans(database: Database) -> dict[str, int]:
    """table.column -> rows whose value names a row that is not there; empty where all is right.

    table.key -> keys of more than one row, in the tables whose keys DuckDB does not index.
    """
    check_schema(database)
    with database.read() as session:
        counts = {
            name: int(session.scalar(statement))
            for name, statement in read_blocks("pinakes.pipeline", "sql", "integrity.sql").items()
        }
    return {name: count for name, count in counts.items() if count}


@contextmanager
def ask(database: Database, text: str) -> Iterator[RawResult]:
    """The result of a user's query over a database that was opened read-only.

    Raises:
        InputError: the database refuses the text, at once or while its rows come.
    """
    with database.read() as session:
        result = session.query(text)
        if not result.columns:
            raise InputError("the text holds no query; expected one, as SELECT * FROM corpora.")
        yield RawResult(result.columns, _explain_refusal(result.rows))


def _explain_refusal(rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    try:
        yield from rows
    except DRIVER_ERRORS as error:
        raise explain(error) or InputError(f"the database refuses the query: {error}") from error
