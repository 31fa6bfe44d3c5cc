"""DuckDB files as others find them: the storage version, and older DuckDBs that open them."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pinakes.database import connect
from pinakes.database.connect import STORAGE_VERSION
from pinakes.errors import DatabaseError
from tests.long import long

WRITE = """
import os, sys
from pinakes.database import connect
database = connect(sys.argv[1])
with database.begin() as session:
    session.execute("UPDATE corpora SET name = 'held' WHERE name = 'scifact'")
os._exit(0)  # without closing: what was written is in the log beside the file
"""
READ = """
import json, sys
import duckdb
connection = duckdb.connect(sys.argv[1], read_only=True)
tables = connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()
for (name,) in tables:
    connection.execute(f'SELECT * FROM "{name}"').fetchall()
views = connection.execute("SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal").fetchall()
for schema, name in views:
    connection.execute(f'SELECT * FROM "{schema}"."{name}"').fetchall()
held = connection.execute("SELECT name FROM corpora").fetchall()
print(json.dumps([duckdb.__version__, len(tables), len(views), held]))
"""


def storage_version(path: Path) -> str:
    with duckdb.connect(str(path), read_only=True) as connection:
        row = connection.execute("SELECT tags FROM duckdb_databases() WHERE NOT internal").fetchone()
    assert row is not None
    return str(row[0]["storage_version"])


def test_a_file_is_written_in_the_storage_version_that_older_duckdbs_open(tmp_path: Path) -> None:
    path = tmp_path / "made.duckdb"
    with connect(f"duckdb:///{path}") as database, database.begin() as session:
        session.execute("CREATE TABLE numbers (n INTEGER)")
    assert storage_version(path) == f"{STORAGE_VERSION}+"
    # what a DuckDB compares with its own: 64 is v0.9 to v1.1, 65 v1.2, 999 none that was published
    assert int.from_bytes(path.read_bytes()[12:20], "little") == 65


@pytest.mark.parametrize("written", [0, 4_096, 8_192])
def test_a_file_whose_making_the_disk_ended_is_made_by_the_next_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: int
) -> None:
    path, said = tmp_path / "made.duckdb", "No space left on device"

    def stop(database: str, *given: Any, **others: Any) -> Any:
        if database == ":memory:":  # which duckdb_engine asks what it can do
            return ask(database, *given, **others)
        Path(database).write_bytes(bytes(written))  # as DuckDB leaves it
        raise duckdb.IOException(f'IO Error: Could not write file "{database}": {said}')

    ask = duckdb.connect
    with monkeypatch.context() as patched:
        patched.setattr(duckdb, "connect", stop)
        with pytest.raises(DatabaseError, match=rf"disk of the database is full .*\"{path}\": {said}"):
            connect(path)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "made.duckdb.1.new").write_bytes(bytes(written))  # of a process that was killed
    (tmp_path / "made.duckdb.own.new").touch()  # a file of the user's
    with connect(path) as database, database.begin() as session:
        session.execute("CREATE TABLE numbers (n INTEGER)")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["made.duckdb", "made.duckdb.own.new"]


def test_a_file_is_made_on_a_file_system_without_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "made.duckdb"
    with connect(path):
        pass
    assert [one.name for one in tmp_path.iterdir()] == ["made.duckdb"]
    assert storage_version(path) == f"{STORAGE_VERSION}+"


def test_a_file_that_was_made_in_a_newer_version_is_read_and_written_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "newer.duckdb"
    with duckdb.connect(str(path), config={"storage_compatibility_version": "latest"}) as connection:
        connection.execute("CREATE TABLE numbers AS SELECT 1 AS n")
    newer = storage_version(path)
    assert newer != f"{STORAGE_VERSION}+"
    with connect(f"duckdb:///{path}") as database, database.begin() as session:
        session.execute("INSERT INTO numbers VALUES (2)")
    with connect(f"duckdb:///{path}") as database, database.read() as session:
        assert session.scalar("SELECT SUM(n) FROM numbers") == 3
    assert storage_version(path) == newer


@pytest.mark.parametrize("version", [long("1.2.0"), long("1.3.2"), long("1.4.4"), long("1.5.0")])
def test_an_older_duckdb_reads_every_table_and_view(
    tmp_path: Path, prepared_duckdb_url: str, version: str
) -> None:
    older = tmp_path / "older"
    _install(f"duckdb=={version}", older)
    # the log of a killed writer is read too
    subprocess.run([sys.executable, "-c", WRITE, prepared_duckdb_url], check=True)
    path = prepared_duckdb_url.removeprefix("duckdb:///")
    assert Path(f"{path}.wal").exists()
    command = [sys.executable, "-c", READ, path]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(older)})
    read_by, tables, views, corpora = json.loads(done.stdout)
    with connect(prepared_duckdb_url) as database, database.read() as session:
        assert read_by == version
        assert tables == session.scalar("SELECT COUNT(*) FROM duckdb_tables()")
        assert views == session.scalar("SELECT COUNT(*) FROM duckdb_views() WHERE NOT internal")
    assert ["held"] in corpora


def _install(requirement: str, folder: Path) -> None:
    """Bring a package into a folder of its own, or skip the test where no registry answers."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
    done = subprocess.run([*command, requirement], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"pip does not bring {requirement}: {done.stderr.strip()[-200:]}")
