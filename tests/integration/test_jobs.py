"""One job at a time for each database: who is let in, who is told of whom, and what a killed one leaves."""

import os
import re
import signal
import socket
import threading
from pathlib import Path

import pytest
import sqlalchemy as sa

from pinakes.database import Database, connect, connect_alone
from pinakes.database.jobs import JOBS, name_lock
from pinakes.errors import DatabaseBusyError, DatabaseError
from pinakes.schema import create_schema
from tests.calling import make_call
from tests.processes import start_process

HOLD = """
import sys
from pinakes.database import connect_alone
sys.argv = ["/venv/bin/pinakes", "evaluate", "it's \\\\ 100%", "--db", sys.argv[1]]
with connect_alone(sys.argv[-1], "evaluate") as database:
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def url(database: Database) -> str:
    """Of a database with tables, which nobody has open."""
    database.close()
    return database.url.render_as_string(hide_password=False)


def list_beside(url: str) -> list[str]:
    file = Path(sa.make_url(url).database or "")
    return sorted(path.name for path in file.parent.glob(f"{file.name}.*"))


def test_a_second_one_is_told_who_evaluates_where_with_what_and_since_when(url: str) -> None:
    with start_process(HOLD, url) as process:
        with pytest.raises(DatabaseBusyError) as caught, connect_alone(url, "evaluate"):
            pass
        said = str(caught.value)
        assert said.startswith(
            f"`pinakes evaluate` is being done by process {process.pid} on {socket.gethostname()} (pinakes "
            "evaluate it"
        )
        assert re.search(
            r"100.*, since 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d\); there is one at", said
        )
        assert "--db" not in said
    with connect_alone(url, "evaluate"):
        pass
    assert list_beside(url) == []


def test_who_waits_says_so_at_once_and_comes_in_when_the_other_ends(url: str) -> None:
    told: list[str] = []
    with start_process(HOLD, url) as process:

        def tell(line: str) -> None:
            told.append(line)
            if process.stdin is not None:
                process.stdin.close()

        with connect_alone(url, "evaluate", wait_s=60, tell=tell):
            pass
    expected = rf"waiting for process {process.pid} on .*, which does `pinakes evaluate`; 0 of at most 60 sec"
    assert re.match(expected, told[0])


def test_what_a_killed_one_held_is_free(url: str) -> None:
    with start_process(HOLD, url) as process:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        with connect_alone(url, "evaluate", wait_s=30):  # until Postgres has noticed
            pass
    assert list_beside(url) == []


def test_others_read_and_write_postgres_while_it_is_evaluated(postgres_database: Database) -> None:
    name = postgres_database.url.render_as_string(hide_password=False)
    with connect_alone(name, "evaluate"):
        with postgres_database.begin() as session:
            assert session.execute("DELETE FROM scores") == 0
        with connect(name) as other, other.read() as session:
            assert session.scalar("SELECT COUNT(*) FROM scores") == 0


def test_a_reader_of_postgres_can_neither_hold_nor_hinder_it(postgres_database: Database) -> None:
    name = postgres_database.url.render_as_string(hide_password=False)
    with postgres_database.begin() as session:
        session.execute("DROP ROLE IF EXISTS pinakes_job_reader")
        session.execute("CREATE ROLE pinakes_job_reader NOLOGIN")
        session.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO pinakes_job_reader")
    try:
        with postgres_database.engine.connect() as reader:
            reader.execute(sa.text("SET ROLE pinakes_job_reader"))
            for mode in ("SHARE UPDATE EXCLUSIVE", "ROW EXCLUSIVE"):
                with pytest.raises(sa.exc.ProgrammingError, match="permission denied"), reader.begin_nested():
                    reader.execute(sa.text(f"LOCK TABLE {JOBS['evaluate']} IN {mode} MODE"))
            reader.execute(sa.text(f"LOCK TABLE {JOBS['evaluate']} IN ACCESS SHARE MODE"))
            reader.execute(sa.text("SELECT pg_advisory_lock(1346981441), pg_advisory_lock(0)"))
            with connect_alone(name, "evaluate"):
                pass
    finally:
        with postgres_database.begin() as session:
            session.execute("DROP OWNED BY pinakes_job_reader")
            session.execute("DROP ROLE pinakes_job_reader")


def test_limits_of_idle_sessions_do_not_end_it(postgres_database: Database) -> None:
    url = postgres_database.url.update_query_dict(
        {"options": "-c idle_in_transaction_session_timeout=100ms -c statement_timeout=5s"}
    )
    name = url.render_as_string(hide_password=False)
    with connect_alone(name, "evaluate"):
        threading.Event().wait(0.5)
        with pytest.raises(DatabaseBusyError), connect_alone(name, "evaluate"):
            pass


def test_what_stands_in_the_place_of_the_lock_file_is_refused(duckdb_database: Database) -> None:
    duckdb_database.close()
    path = name_lock(Path(str(duckdb_database.url.database)), "evaluate")
    path.mkdir()
    with pytest.raises(
        DatabaseError, match=rf"evaluate needs a lock file beside the database: '{path}': it is a folder"
    ):
        connect_alone(duckdb_database.url, "evaluate").__enter__()
    path.rmdir()
    (target := path.with_name("precious")).write_text("kept")
    path.symlink_to(target)
    with pytest.raises(
        DatabaseError, match=r"evaluate needs a lock file beside the database: .*links lead in a circle"
    ):
        connect_alone(duckdb_database.url, "evaluate").__enter__()
    assert target.read_text() == "kept"


def test_two_names_of_one_file_have_one_lock(duckdb_database: Database, tmp_path: Path) -> None:
    duckdb_database.close()
    file = Path(str(duckdb_database.url.database))
    (other := tmp_path / "other.duckdb").symlink_to(file)
    with (
        start_process(HOLD, str(file)),
        pytest.raises(DatabaseBusyError, match="`pinakes evaluate` is being done by"),
    ):
        connect_alone(other, "evaluate").__enter__()


@pytest.mark.parametrize(("mode", "expected"), [(0o644, 0o600), (0o664, 0o660), (0o666, 0o666)])
def test_who_may_not_write_the_database_may_not_take_its_lock(
    duckdb_database: Database, mode: int, expected: int
) -> None:
    duckdb_database.close()
    file = Path(str(duckdb_database.url.database))
    file.chmod(mode)
    with connect_alone(file, "evaluate"):
        assert name_lock(file, "evaluate").stat().st_mode & 0o777 == expected


def test_a_database_without_tables_is_not_waited_for(postgres_url: str) -> None:
    with connect_alone(postgres_url, "evaluate") as database:
        create_schema(database)


def test_a_held_file_is_exit_code_4_and_is_waited_for_with_words(
    duckdb_database: Database, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    duckdb_database.close()
    monkeypatch.setenv("PINAKES_DATABASE_URL", str(duckdb_database.url))
    call = make_call(capsys)
    with start_process(HOLD, str(duckdb_database.url)) as process:
        for words in (["status"], ["sql", "SELECT 1"], ["report", "scifact"], ["load", "synthetic"]):
            outcome = call(*words)
            assert (outcome.code, outcome.out) == (4, ""), words
            assert f"the DuckDB file is held by process {process.pid} (" in outcome.err
        outcome = call("evaluate", "scifact")
        assert (outcome.code, f"is being done by process {process.pid} on " in outcome.err) == (4, True)
        outcome = call("status", "--wait", "0.5")
        assert outcome.code == 4
        first, last = outcome.err.splitlines()
        assert first.startswith(f"pinakes: waiting for process {process.pid} (python")
        assert last.startswith("pinakes: the DuckDB file is held by")
        assert call("status", "--wait", "0.5", "-q").err.count("\n") == 1
        outcome = call("status", "--wait", "0.5", "--log", "text")
        assert [line.split()[1] for line in outcome.err.splitlines()] == ["INFO", "ERROR"]
