"""Opening a database: which one, what is refused, who holds it, and what reading alone allows."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from pathlib import Path

import pytest
import sqlalchemy as sa

from pinakes.database import Database, connect, connect_read_only, connect_to_fill, sessions
from pinakes.database.compiled import EVERY_COLUMN
from pinakes.errors import DatabaseBusyError, DatabaseError, InputError
from tests.postgres import PostgresServer
from tests.processes import start_process

HOLD = """
import sys
from pinakes.database import connect
with connect(sys.argv[1]) as database, database.begin() as session:
    session.execute("CREATE TABLE IF NOT EXISTS numbers (n INTEGER)")
    print("held", flush=True)
    sys.stdin.readline()
"""


def _create_numbers(url: str) -> None:
    with connect(url) as database, database.begin() as session:
        session.execute("CREATE TABLE numbers (n INTEGER)")
        session.execute("INSERT INTO numbers VALUES (1), (2)")


def test_without_a_url_the_environment_names_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINAKES_DATABASE_URL", f"duckdb:///{tmp_path / 'named.duckdb'}")
    with connect() as database:
        assert database.name == "duckdb"
    assert [file.name for file in tmp_path.iterdir()] == ["named.duckdb"]


def test_without_anything_it_is_a_file_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PINAKES_DATABASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    with connect() as database:
        assert str(database.url) == "duckdb:///pinakes.duckdb"
    assert [file.name for file in tmp_path.iterdir()] == ["pinakes.duckdb"]


def test_postgres_is_reached_by_each_of_its_usual_urls(postgres_url: str) -> None:
    for scheme in ("postgresql", "postgres", "postgresql+psycopg", "postgresql+psycopg2"):
        url = postgres_url.replace("postgresql+psycopg", scheme)
        with connect(url) as database, database.read() as session:
            assert (database.name, session.scalar("SELECT 1")) == ("postgresql", 1)


def test_the_password_is_not_shown(postgres_url: str) -> None:
    url = sa.make_url(postgres_url).set(password="secret")
    with connect(url) as database:
        assert "secret" not in str(database.url)


@pytest.mark.parametrize("url", ["mysql://localhost/x", "sqlite:///x.db"])
def test_another_kind_of_database_is_refused(url: str) -> None:
    with pytest.raises(DatabaseError, match=rf"in DuckDB or Postgres, not in '{url.split(':')[0]}'"):
        connect(url)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("pinakes", r"'pinakes' is not a database URL; expected a DuckDB file, .* Did you mean ./pinakes?"),
        ("data/pinakes", r"Did you mean ./data/pinakes?"),
        ("duckdb:pinakes.duckdb", "is not a database URL"),
        ("duckdb:/pinakes.duckdb", "is not a database URL"),
        ("postgresql://me@host:none/x", "is not a database URL"),
        ("postgresql:/me:secret@host/x", "is not a database URL"),
        ("", "is empty"),
        (" ", "is empty"),
        ("duckdb://pinakes.duckdb", "two slashes.* three before a relative path, duckdb:///pinakes.duckdb"),
        ("duckdb://data/x.duckdb", "duckdb:///data/x.duckdb"),
        ("postgress://me@host/x", "not in 'postgress'; .* Did you mean postgresql?"),
        ("duckbd:///x", "Did you mean duckdb?"),
    ],
)
def test_what_is_no_address_is_refused(
    url: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DatabaseError, match=told.replace("?", r"\?")) as caught:
        connect(url)
    assert "secret" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_variable_is_no_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PINAKES_DATABASE_URL", "")
    with pytest.raises(DatabaseError, match="PINAKES_DATABASE_URL, is empty"):
        connect()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("given", ["x.duckdb", "./x.duckdb", "../here/x.duckdb", "~/x.duckdb", "{}/x.duckdb"])
def test_the_path_of_a_file_is_as_good_as_its_url(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(here))
    for address in (given.format(here), Path(given.format(here))):
        with connect(address) as database:
            assert database.name == "duckdb"
        assert [file.name for file in here.iterdir()] == ["x.duckdb"]
        (here / "x.duckdb").unlink()
    monkeypatch.setenv("PINAKES_DATABASE_URL", given.format(here))
    with connect() as database:
        assert Path(str(database.url.database)).resolve() == here / "x.duckdb"


def test_a_home_folder_is_one_in_a_url_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with connect("duckdb:///~/x.duckdb"):
        assert (tmp_path / "x.duckdb").exists()


def test_a_file_is_made_where_that_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "x.duckdb"
    with pytest.raises(DatabaseError, match=f"there is no database file {file}; `pinakes load` or"):
        connect(file, create=False)
    assert not file.exists()
    connect(file).close()
    connect(file, create=False).close()


@pytest.mark.parametrize("is_empty", [True, False])
def test_a_new_file_that_stays_empty_is_taken_away_again(tmp_path: Path, is_empty: bool) -> None:
    file = tmp_path / "x.duckdb"

    def fail() -> None:
        with connect_to_fill(file, lambda _database: is_empty) as database:
            with database.begin() as session:
                session.execute("CREATE TABLE numbers (n INTEGER)")
            raise InputError("there is no such source")

    with pytest.raises(InputError, match="no such source"):
        fail()
    assert file.exists() is not is_empty


def test_a_file_that_was_there_stays_however_empty(tmp_path: Path) -> None:
    file = tmp_path / "x.duckdb"
    connect(file).close()
    with connect_to_fill(file, lambda _database: True):
        pass
    assert file.exists()


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match=f"the folder {tmp_path / 'nowhere'} does not exist"):
        connect(f"duckdb:///{tmp_path / 'nowhere' / 'x.duckdb'}")


def test_a_file_of_another_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.duckdb").write_bytes(b"This is a text, not a database. " * 1_000)
    with pytest.raises(DatabaseError, match=rf"^{tmp_path}/x.duckdb is not a valid DuckDB database"):
        connect(f"duckdb:///{tmp_path / 'x.duckdb'}")


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match=f"{tmp_path} is a folder; .* as {tmp_path}/pinakes.duckdb"):
        connect(f"duckdb:///{tmp_path}")


def test_a_server_that_does_not_answer_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match=r"cannot be reached, or went away .connection is bad"):
        connect(f"postgresql://postgres@/x?host={tmp_path}")


def test_a_database_that_the_server_lacks_is_named(postgres_url: str) -> None:
    with pytest.raises(DatabaseError, match='database "nowhere" does not exist'):
        connect(sa.make_url(postgres_url).set(database="nowhere"))


@pytest.mark.parametrize("opener", [connect, connect_read_only])
def test_the_process_that_holds_the_file_is_named(duckdb_url: str, opener: Callable[[str], Database]) -> None:
    with start_process(HOLD, duckdb_url) as process:
        expected = rf"is held by process {process.pid} \(.*python.*\).* Wait for it with --wait"
        with pytest.raises(DatabaseBusyError, match=expected):
            opener(duckdb_url)
        process.communicate("")
    opener(duckdb_url).close()


def test_waiting_ends_when_the_file_is_released(duckdb_url: str) -> None:
    with start_process(HOLD, duckdb_url) as process:
        naps: list[float] = []

        def nap(seconds: float) -> None:
            naps.append(seconds)
            if len(naps) == 2:
                process.communicate("")

        with connect(duckdb_url, wait_s=5.0, sleep=nap) as database, database.read() as session:
            assert session.scalar("SELECT COUNT(*) FROM numbers") == 0
    assert naps == [0.2, 0.2]


def test_waiting_ends_when_the_time_is_up(duckdb_url: str) -> None:
    naps: list[float] = []
    with start_process(HOLD, duckdb_url) as process:
        with pytest.raises(DatabaseBusyError):
            connect(duckdb_url, wait_s=0.5, sleep=naps.append)
        process.communicate("")
    assert naps == [0.2, 0.2, 0.2]


def test_readers_of_postgres_do_not_wait_for_its_writer_and_writers_do(postgres_url: str) -> None:
    _create_numbers(postgres_url)
    with start_process(HOLD, postgres_url) as process:
        with connect(postgres_url) as database, database.read() as session:
            assert session.scalar("SELECT COUNT(*) FROM numbers") == 2
        url = sa.make_url(postgres_url).update_query_dict({"options": "-c lock_timeout=50ms"})
        with connect(url) as database, pytest.raises(DatabaseError, match="lock timeout"), database.begin():
            pass
        process.communicate("")
    with connect(postgres_url) as database, database.begin() as session:
        assert session.execute("INSERT INTO numbers VALUES (3)") == 1


@pytest.mark.parametrize("has_tables", [True, False])
def test_a_writer_of_postgres_is_told_at_once_and_again_for_whom_it_waits(
    postgres_server: PostgresServer,
    tables_postgres: str,
    postgres_url: str,
    has_tables: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sessions, "_PATIENCE_S", 0.1)
    monkeypatch.setattr(sessions, "TELL_S", 0.1)
    told: list[str] = []

    def tell(line: str) -> None:
        told.append(line)
        if len(told) == 3:
            process.communicate("")

    copied = postgres_server.create(f"{tables_postgres}_held", tables_postgres)
    with copied if has_tables else nullcontext(postgres_url) as url:
        with (
            start_process(HOLD, url) as process,
            connect(url, tell=tell) as database,
            database.begin() as session,
        ):
            session.execute("INSERT INTO numbers VALUES (3)")
            assert session.scalar("SHOW lock_timeout") == "0"
        with connect(url) as database, database.read() as session:
            assert session.scalar("SELECT COUNT(*) FROM numbers") == 1
    holder = rf"process {process.pid} on .*: -c .*, which writes to this database"
    line = rf"waiting for {holder}; \d+ seconds have passed"
    assert [bool(re.fullmatch(line, one)) for one in told] == [True] * 3, told


def test_a_session_of_postgres_has_the_name_that_its_url_gives(postgres_url: str) -> None:
    for given, expected in (({}, f"process {os.getpid()} on "), ({"application_name": "nightly"}, "nightly")):
        url = sa.make_url(postgres_url).update_query_dict(given)
        with connect(url) as database, database.read() as session:
            assert str(session.scalar("SHOW application_name")).startswith(expected)


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO numbers VALUES (3)",
        "UPDATE numbers SET n = 0",
        "DELETE FROM numbers",
        "CREATE TABLE others (n INTEGER)",
        "DROP TABLE numbers",
    ],
)
def test_reading_alone_refuses_to_write(database_url: str, statement: str) -> None:
    _create_numbers(database_url)
    with connect_read_only(database_url) as database:
        with (
            pytest.raises((DatabaseError, sa.exc.DBAPIError), match="read-only"),
            database.begin() as session,
        ):
            session.execute(statement)
        with database.read() as session:
            assert session.rows("SELECT n FROM numbers ORDER BY n") == [{"n": 1}, {"n": 2}]


@pytest.mark.parametrize(
    "statement",
    [
        "COPY numbers TO '{folder}/stolen.csv'",
        "SELECT * FROM read_csv('{folder}/secret.csv')",
        "SELECT * FROM '{folder}/secret.csv'",
        "SELECT content FROM read_text('{folder}/secret.csv')",
        "SELECT * FROM glob('{folder}/*')",
        "ATTACH '{folder}/other.duckdb' AS other",
        "EXPORT DATABASE '{folder}/export'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
    ],
)
def test_reading_alone_touches_no_other_file(duckdb_url: str, tmp_path: Path, statement: str) -> None:
    _create_numbers(duckdb_url)
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    before = sorted(file.name for file in tmp_path.iterdir())
    with (
        connect_read_only(duckdb_url) as database,
        pytest.raises((DatabaseError, sa.exc.DBAPIError), match=r"disabled|locked|read-only"),
        database.read() as session,
    ):
        session.rows(statement.format(folder=tmp_path))
    assert sorted(file.name for file in tmp_path.iterdir()) == before


def test_reading_alone_makes_no_file(duckdb_url: str) -> None:
    with pytest.raises(
        DatabaseError, match=r"no database file /.*; `pinakes load` or `pinakes init` makes one"
    ):
        connect_read_only(duckdb_url)
    assert not Path(str(sa.make_url(duckdb_url).database)).exists()


def test_duckdb_draws_no_progress_bar_into_a_programs_output(duckdb_url: str) -> None:
    # DuckDB takes a program without a file for a person at a terminal.
    program = (
        "from pinakes.database import connect\n"
        f"with connect({duckdb_url!r}) as database, database.read() as session:\n"
        "    print(session.scalar(\"SELECT current_setting('enable_progress_bar')\"))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_statement_is_compiled_once_for_all_databases(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    numbers = sa.table("numbers", sa.column("n", sa.Integer))
    lists = [[1], [2], [1, 2], []]
    with ExitStack() as made:
        names = (f"pinakes_compiled_{os.getpid()}_{number}" for number in range(len(lists)))
        urls = {
            "duckdb": [f"duckdb:///{tmp_path / f'{number}.duckdb'}" for number in range(len(lists))],
            "postgresql": [made.enter_context(postgres_server.create(name)) for name in names],
        }
        for kind, of_kind in urls.items():
            found = []
            for url, wanted in zip(of_kind, lists, strict=True):
                _create_numbers(url)
                query = sa.select(numbers).where(numbers.c.n.in_(wanted)).limit(len(wanted))
                with connect(url) as database, database.connect() as connection:
                    assert database.url == sa.make_url(url)
                    asked = connection.execute(query)
                    found.append((asked.context.cache_hit.name, asked.scalars().all()))
            assert [rows for _, rows in found] == lists, kind
            assert [hit for hit, _ in found[1:]] == ["CACHE_HIT"] * 3, kind


@pytest.mark.parametrize(
    "query", ["SELECT * FROM changing", sa.select(EVERY_COLUMN).select_from(sa.table("changing"))]
)
def test_every_column_of_a_table_that_changed_is_each_under_its_name(
    database_url: str, query: sa.Executable | str
) -> None:
    worlds = [{"a": 1, "b": 2}, {"b": 3, "c": 4, "d": 5}]
    for columns_of_one in (worlds, worlds[::-1]):
        with connect(database_url) as database:
            for columns in columns_of_one:
                with database.begin() as session:
                    session.execute("DROP TABLE IF EXISTS changing")
                    values = ", ".join(f"{value} AS {name}" for name, value in columns.items())
                    session.execute(f"CREATE TABLE changing AS SELECT {values}")
                with database.read() as session:
                    assert session.rows(query) == [columns]
                    assert session.fetch_arrow(query).to_pylist() == [columns]
