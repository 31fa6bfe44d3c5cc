"""A table, a view or a query's result as a file, in constant memory."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.database.read_only import NO_LIMITS, Limits, ask_arrow
from pinakes.errors import InputError, UnknownNameError
from pinakes.schema import benchmarks, check_schema, metadata
from pinakes.writing.formulas import guard_formulas
from pinakes.writing.tables import Rows, choose_format, write_table


@dataclass(frozen=True, slots=True)
class ExportedTable:
    """What was written."""

    file: str
    format: str
    rows: int
    columns: int


def export_table(
    database: Database,
    name: str,
    path: Path,
    format_: str | None = None,
    limits: Limits = NO_LIMITS,
    *,
    guard: bool = False,
) -> ExportedTable:
    """Write a table or view, as `papers` or `csfcube.queries`: tables by their key, views by all columns.

    Raises:
        UnknownNameError: there is no such table or view, or format.
        InputError: the file's name shows no format, the file cannot be written, its format cannot hold a
            column, or a limit is reached.
    """
    check_schema(database)
    choose_format(path, format_)
    with database.read() as session:
        text = _select(session, name)
    return export_query(database, text, path, format_, limits, guard=guard)


def export_query(
    database: Database,
    text: str,
    path: Path,
    format_: str | None = None,
    limits: Limits = NO_LIMITS,
    *,
    guard: bool = False,
) -> ExportedTable:
    """Write the result of a user's query over a database that was opened read-only.

    `guard` is for CSV and TSV that a spreadsheet opens: see `writing.formulas`.

    Raises:
        UnknownNameError: there is no such format.
        InputError: the database refuses the query, or a limit is reached; and as `export_table`.
    """
    named = choose_format(path, format_)
    if guard and named not in ("csv", "tsv"):
        raise InputError(f"--guard-formulas is for CSV and TSV; leave it out for {named}.")
    with ask_arrow(database, text, limits) as result:
        parts = map(guard_formulas, result.parts) if guard else result.parts
        rows = write_table(path, Rows(result.schema, parts), named)
        return ExportedTable(str(path), named, rows, len(result.schema))


def _select(session: Session, name: str) -> str:
    """The query for all rows of a table or view that the database has."""
    known = _list_tables(session)
    if name not in known:
        raise UnknownNameError("table or view", name, list(known))
    schema, table = known[name]
    columns: list[sa.ColumnClause[Any]] = [
        sa.column(row["column_name"])
        for row in session.rows(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = :schema "
            "AND table_name = :table ORDER BY ordinal_position",
            {"schema": schema, "table": table},
        )
    ]
    source = sa.table(table, *columns, schema=schema)
    declared = metadata.tables.get(name)
    keys = [] if declared is None else [column.name for column in declared.primary_key]
    order = [source.c[key] for key in keys] or list(source.c)
    query = sa.select(*source.c).order_by(*order)
    return str(query.compile(dialect=session.connection.dialect))


def _list_tables(session: Session) -> dict[str, tuple[str, str]]:
    """The name that a user says -> the schema and the table: ours, and the views of benchmarks."""
    ours = session.scalar("SELECT CURRENT_SCHEMA()")
    schemas = [ours, *(row["name"] for row in session.rows(sa.select(benchmarks.c.name)))]
    listed = sa.table(
        "tables", sa.column("table_schema"), sa.column("table_name"), schema="information_schema"
    )
    rows = session.rows(sa.select(*listed.c).where(listed.c.table_schema.in_(schemas)))
    found = {(row["table_schema"], row["table_name"]) for row in rows}
    return {
        table if schema == ours else f"{schema}.{table}": (schema, table) for schema, table in sorted(found)
    }
