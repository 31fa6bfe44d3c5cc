"""A DuckDB file whose tables of corpora are views over Parquet files, in a folder or on an object store.

Nothing is copied. What is made from corpora (benchmarks, runs, scores) has tables as always. The views can
only be read: loads, corrections and removals need tables, and say so (`database.driver_errors`).
"""

from pathlib import Path

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.database.in_place import IN_PLACE, name_source, read_stores
from pinakes.database.sql_blocks import quote_text
from pinakes.errors import InputError
from pinakes.export.corpora.manifest import Manifest, read_manifest
from pinakes.export.corpora.tables import list_corpus_tables
from pinakes.schema import comment_on_view, corpora
from pinakes.writing.folders import Folder, LocalFolder, is_address, join_address, open_folder


def read_in_place(database: Database, place: str | Path) -> list[str]:
    """Make the tables of corpora views over the files of a folder; the corpora's names.

    The database has the tables of `create_schema`, and no corpus; a second call names another folder, or the
    files of today. No other process may write to the folder meanwhile.

    Raises:
        InputError: the database is no DuckDB file or has corpora of its own, or the folder is not whole.
        PinakesError: the object store cannot be used.
    """
    folder = require_readable(database, place)
    manifest = read_manifest(folder)
    with database.begin() as session:
        views = {str(row["name"]) for row in session.rows(_VIEWS)}
        held = 0 if corpora.name in views else session.scalar(sa.select(sa.func.count()).select_from(corpora))
        if held:
            raise InputError(
                f"this database has {held} corpora of its own; choose another file (--db) for those in "
                f"{folder.address}."
            )
        if is_address(folder.address):
            read_stores(session)
        for table in list_corpus_tables():
            if table.name not in views:
                session.execute_as_written(f"DROP TABLE {table.name}")
            source = _find_source(folder, table)
            session.execute_as_written(_make_view(table, source, manifest))
            comment_on_view(session, table.name, f"{IN_PLACE}{source}")
    return list(manifest.corpora)


def require_readable(database: Database, place: str | Path) -> Folder:
    """The folder, where this database can read it in place; else `InputError` says what to do."""
    if database.name != "duckdb":
        raise InputError("Postgres reads no Parquet in place; take corpora with `pinakes import-corpora`.")
    return open_folder(place)


_VIEWS = (
    "SELECT table_name AS name FROM information_schema.tables "
    "WHERE table_schema = CURRENT_SCHEMA() AND table_type = 'VIEW'"
)


def _find_source(folder: Folder, table: sa.Table) -> str:
    """The folder or the address that has the files of a table; links on the way to it are followed now."""
    if isinstance(folder, LocalFolder):
        return str((folder.path / table.name).resolve())
    return join_address(folder.address, table.name)


def _make_view(table: sa.Table, source: str, manifest: Manifest) -> str:
    """The statement that makes the view of a table: names of ours, and files as quoted texts."""
    start, own = name_source(source), f"{table.name}/"
    files = [
        quote_text(f"{start}{one.name.removeprefix(own)}")
        for one in manifest.files
        if one.table == table.name
    ]
    preparer = sa.create_mock_engine("postgresql://", lambda *_: None).dialect.identifier_preparer
    types = {column.name: _spell_type(column) for column in table.c}
    columns = ", ".join(
        f"CAST({'NULL' if not files else preparer.quote(name)} AS {type_}) AS {preparer.quote(name)}"
        for name, type_ in types.items()
    )
    read = f"read_parquet([{', '.join(files)}], hive_partitioning = false)"
    source = f"FROM {read}" if files else "WHERE FALSE"
    return f"CREATE OR REPLACE VIEW {preparer.quote(table.name)} AS SELECT {columns} {source}"


def _spell_type(column: sa.Column[object]) -> str:
    kinds: dict[type[object], str] = {
        sa.BigInteger: "BIGINT",
        sa.Integer: "INTEGER",
        sa.Double: "DOUBLE",
        sa.Boolean: "BOOLEAN",
        sa.Text: "VARCHAR",
        sa.Uuid: "UUID",
        sa.DateTime: "TIMESTAMP WITH TIME ZONE",
    }
    return next(spelt for kind, spelt in kinds.items() if isinstance(column.type, kind))
