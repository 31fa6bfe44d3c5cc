"""A DuckDB file whose tables of corpora are views over a folder of Parquet files: nothing is copied.

What is made from corpora (benchmarks, runs, scores) has tables as always. The views can only be read: loads,
corrections and removals need tables, and say so (`database.driver_errors`).
"""

from pathlib import Path

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.database.in_place import IN_PLACE
from pinakes.database.sql_blocks import quote_text
from pinakes.errors import InputError
from pinakes.export.corpora.manifest import Manifest, read_manifest
from pinakes.export.corpora.tables import list_corpus_tables
from pinakes.schema import comment_on_view, corpora
from pinakes.writing.folders import LocalFolder, open_folder


def read_in_place(database: Database, place: str | Path) -> list[str]:
    """Make the tables of corpora views over the files of a folder; the corpora's names.

    The database has the tables of `create_schema`, and no corpus; a second call names another folder, or the
    files of today. No other process may write to the folder meanwhile.

    Raises:
        InputError: the database is no DuckDB file or has corpora of its own, or the folder is not whole, or
            on an object store.
    """
    folder = require_local(database, place)
    manifest = read_manifest(folder)
    with database.begin() as session:
        views = {str(row["name"]) for row in session.rows(_VIEWS)}
        held = 0 if corpora.name in views else session.scalar(sa.select(sa.func.count()).select_from(corpora))
        if held:
            raise InputError(
                f"this database has {held} corpora of its own; choose another file (--db) for those in "
                f"{folder.address}."
            )
        for table in list_corpus_tables():
            if table.name not in views:
                session.execute_as_written(f"DROP TABLE {table.name}")
            session.execute_as_written(_make_view(table, folder, manifest))
            comment_on_view(session, table.name, f"{IN_PLACE}{(folder.path / table.name).resolve()}")
    return list(manifest.corpora)


def require_local(database: Database, place: str | Path) -> LocalFolder:
    """The folder, where this database can read it in place; else `InputError` says what to do."""
    folder = open_folder(place)
    if database.name != "duckdb":
        raise InputError("Postgres reads no Parquet in place; take corpora with `pinakes import-corpora`.")
    if not isinstance(folder, LocalFolder):
        raise InputError(
            f"{place} is on an object store, which DuckDB reads by an extension that Pinakes does not load. "
            "Copy the folder to a disk, or take corpora with `pinakes import-corpora`."
        )
    return folder


_VIEWS = (
    "SELECT table_name AS name FROM information_schema.tables "
    "WHERE table_schema = CURRENT_SCHEMA() AND table_type = 'VIEW'"
)


def _make_view(table: sa.Table, folder: LocalFolder, manifest: Manifest) -> str:
    """The statement that makes the view of a table: names of ours, and files as quoted texts."""
    root = folder.path.resolve()
    files = [quote_text(str(root / one.name)) for one in manifest.files if one.table == table.name]
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
