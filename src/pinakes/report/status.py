"""What a database holds, whether its rows fit together, and a user's own questions to it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.database.driver_errors import DRIVER_ERRORS, explain
from pinakes.database.results import RawResult
from pinakes.database.sql_blocks import read_blocks
from pinakes.errors import InputError
from pinakes.schema import check_schema, encoders, vectors_table
from pinakes.schema.integrity import list_integrity_checks


def read_status(database: Database) -> dict[str, list[dict[str, Any]]]:
    """Corpora, loads, derived rows, encoders, side indexes and runs, each a list of rows.

    Raises:
        SchemaVersionError: the database has no tables, or others.
    """
    check_schema(database)
    with database.read() as session:
        found = {
            name: session.rows(statement)
            for name, statement in read_blocks("pinakes.report", "sql", "status.sql").items()
        }
        for row in found["side_indexes"]:
            row["rows_now"] = _count_vectors(session, row)
    return found


def _count_vectors(session: Session, row: Mapping[str, Any]) -> int | None:
    """The rows that an index of the database's own holds by now; its recall is of `row_count` rows."""
    if not row["scope"].startswith("vectors:"):
        return None
    dimensions = session.scalar(sa.select(encoders.c.dimensions).where(encoders.c.name == row["encoder"]))
    table = vectors_table(row["encoder"], dimensions)
    return int(session.scalar(sa.select(sa.func.count()).select_from(table)))


def find_orphans(database: Database) -> dict[str, int]:
    """table.column -> rows whose value names a row that is not there; empty where all is right.

    table.key -> keys of more than one row, in the tables whose keys DuckDB does not index.
    """
    check_schema(database)
    with database.read() as session:
        counts = {name: int(session.scalar(query)) for name, query in list_integrity_checks().items()}
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
