"""What a database holds, and whether its rows fit together."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.database.sql_blocks import read_blocks
from pinakes.report.terminal import print_object, print_records
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


def print_status(found: Mapping[str, Sequence[Mapping[str, object]]], *, as_json: bool) -> None:
    """What a database holds: a table for each kind of thing, or one JSON object."""
    if as_json:
        print_object(found)
        return
    for name, rows in found.items():
        sys.stdout.write(f"{name.replace('_', ' ')}{'' if rows else ': none'}\n")
        if rows:
            print_records(rows)
        sys.stdout.write("\n")
