"""Small databases of every schema version since 11, as SQL text that either database can be made from.

    make store-schema      # writes the one of this version: tests/data/schema_versions/NNNN.sql.gz

Blocks `duckdb` and `postgresql` are the statements by which that version made its tables and views;
blocks `both` are the rows that its commands then wrote. A file of an older version is never written again.
"""

import gzip
import io
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from pinakes.cli import run_command
from pinakes.database import Database, connect
from pinakes.database.sql_blocks import list_blocks
from pinakes.schema import SCHEMA_VERSION
from tests.faults.scenarios import POOLS, SYNTHETIC, Words, fill_in, write_inputs
from tests.loading import DATA
from tests.postgres import start_server

FOLDER: Final = DATA / "schema_versions"
ROWS_A_STATEMENT: Final = 200
_TOY: Final[Words] = ("{inputs}/toy", "--precision", "fp32", "--device", "cpu", "--quiet")

COMMANDS: Final[tuple[Words, ...]] = (
    SYNTHETIC,
    ("load", "csv", f"{DATA}/csv/papers.csv", "--corpus", "own", "--max-rejects", "1", "--quiet"),
    *(
        (what, "synthetic", "--system", name, "--quiet")
        for name in ("bm25", "tfidf")
        for what in ("index", "run")
    ),
    ("index", "synthetic", "--system", *_TOY),
    ("run", "synthetic", "--depth", "20", "--system", *_TOY),
    ("evaluate", "synthetic", "--quiet"),
    ("sample", "large_scale", "--corpus", "synthetic", *POOLS, "--quiet"),
    ("derive", "neighbours", "--corpus", "synthetic", "--codes", "T_ARot", "--quiet"),
)
"""one of every kind that is quick"""
_KEPT: Final = (
    *("CREATE TABLE", "CREATE INDEX", "CREATE VIEW", "CREATE SCHEMA", "CREATE EXTENSION"),
    *("COMMENT ON", "DROP VIEW"),
)
_TABLES: Final = (
    "SELECT table_name FROM information_schema.tables "
    "WHERE table_schema = CURRENT_SCHEMA() AND table_type = 'BASE TABLE' ORDER BY table_name"
)


def list_versions() -> list[int]:
    """The versions of which a database is stored."""
    return sorted(int(file.name.removesuffix(".sql.gz")) for file in FOLDER.glob("*.sql.gz"))


def restore(database: Database, version: int) -> None:
    """Fill an empty database as Pinakes of a version left it."""
    text = gzip.decompress(find_file(version).read_bytes()).decode()
    with database.begin() as session:
        for block, statement in list_blocks(text)[1]:
            if block in ("both", database.name):
                session.execute_as_written(statement)


def find_file(version: int) -> Path:
    """Where the database of a version is stored."""
    return FOLDER / f"{version:04d}.sql.gz"


def read_tables(database: Database) -> dict[str, list[dict[str, Any]]]:
    """All rows of all tables, each table's in an order of their own."""
    with database.read() as session:
        return {
            row["table_name"]: sorted(_read_rows(session, row["table_name"]), key=repr)
            for row in session.rows(_TABLES)
        }


def _read_rows(session: Any, table: str) -> list[dict[str, Any]]:
    return [
        {str(name): value for name, value in row.items()}
        for row in session.fetch_arrow(sa.select(sa.text("*")).select_from(sa.table(table))).to_pylist()
    ]


@contextmanager
def recorded_definitions() -> Iterator[list[str]]:
    """The statements by which tables and views are made meanwhile, in any database of this process."""
    kept: list[str] = []

    def keep(connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        text = statement.strip()
        # Comments that a view's file begins with.
        bare = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
        # A load drops indexes and makes them again.
        if bare.startswith(_KEPT) and not (bare.startswith("CREATE INDEX") and text in kept):
            kept.append(text.replace("%%", "%") if connection.dialect.name == "postgresql" else text)

    sa.event.listen(sa.Engine, "before_cursor_execute", keep)
    try:
        yield kept
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", keep)


def _write_inserts(table: str, rows: list[dict[str, Any]]) -> Iterator[str]:
    for start in range(0, len(rows), ROWS_A_STATEMENT):
        part = rows[start : start + ROWS_A_STATEMENT]
        columns = ", ".join(f'"{name}"' for name in part[0])
        values = ",\n".join(f"({', '.join(map(_write_value, row.values()))})" for row in part)
        yield f'INSERT INTO "{table}" ({columns}) VALUES\n{values}'


def _write_value(value: Any) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case int() | float():
            return repr(value)
        case datetime():
            return f"'{value.isoformat()}'"
        case list():
            return f"'{[float(number) for number in value]}'"
    return "'{}'".format(str(value).replace("'", "''"))


def _fill(url: str, folder: Path) -> list[str]:
    """Run `COMMANDS`; the definitions that they made."""
    with recorded_definitions() as kept:
        for words in COMMANDS:
            if run_command([*fill_in(words, folder), "--db", url]) != 0:
                raise SystemExit(f"{words}: failed")
    return kept


def main() -> None:
    """Store the database of this version."""
    written = io.StringIO()
    with tempfile.TemporaryDirectory(prefix="pinakes-", dir="/tmp") as name:
        folder = Path(name)
        write_inputs(folder, with_models=True)
        server = start_server(folder / "pg")
        address = sa.make_url(server.get_uri()).set(drivername="postgresql+psycopg")
        urls = {
            "duckdb": f"duckdb:///{folder / 'stored.duckdb'}",
            "postgresql": address.render_as_string(hide_password=False),
        }
        written.write(
            f"-- A database of schema version {SCHEMA_VERSION}, for tests: see stored_schemas.py.\n\n"
        )
        for kind, url in urls.items():
            for statement in _fill(url, folder):
                written.write(f"-- name: {kind}\n{statement}\n\n")
        with connect(urls["duckdb"]) as database:
            for table, rows in read_tables(database).items():
                for statement in _write_inserts(table, rows):
                    written.write(f"-- name: both\n{statement}\n\n")
        server.cleanup()
    file = find_file(SCHEMA_VERSION)
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(gzip.compress(written.getvalue().encode(), 9, mtime=0))
    print(f"{file}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
