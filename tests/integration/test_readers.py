"""Attacks on what only reads: through the URL, the environment, the query and the rights of the user."""

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from pinakes.database import Database, connect, connect_read_only, pgvector_index
from pinakes.database.address import find_file, read_address
from pinakes.database.postgres_questions import HARMLESS_FUNCTIONS
from pinakes.database.read_only import Limits, ask, ask_arrow
from pinakes.database.reader_role import READER_ROLE, warn_of_rights
from pinakes.errors import DatabaseError, IndexingError, InputError
from pinakes.queries.definition import read_benchmark
from pinakes.queries.install import initialise, install_benchmark
from tests.benching import count
from tests.calling import Call, make_call
from tests.postgres import PostgresServer
from tests.processes import start_process


def question(database: Database, text: str, **limits: Any) -> list[tuple[Any, ...]]:
    with ask(database, text, Limits(**limits)) as result:
        return list(result.rows)


def as_arrow(database: Database, text: str, **limits: Any) -> list[tuple[Any, ...]]:
    with ask_arrow(database, text, Limits(**limits)) as result:
        return [tuple(row.values()) for part in result.parts for row in part.to_pylist()]


WAYS = [question, as_arrow]


def _url(url: str, **parameters: str) -> str:
    return sa.make_url(url).update_query_dict(parameters).render_as_string(hide_password=False)


# --- the URL and the environment


@pytest.mark.parametrize("opener", [connect, connect_read_only])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("access_mode", "READ_WRITE"),
        ("ACCESS_MODE", "READ_WRITE"),
        ("enable_external_access", "true"),
        ("lock_configuration", "false"),
        ("allowed_directories", "['/']"),
        ("extension_directory", "/tmp"),
        ("autoload_known_extensions", "true"),
        ("profiling_output", "/tmp/x"),
        ("user", "x"),
        ("plugin", "x"),
        ("thread", "2"),
    ],
)
def test_a_url_of_duckdb_carries_no_other_parameter(
    prepared_duckdb_url: str, opener: Any, name: str, value: str
) -> None:
    with pytest.raises(
        DatabaseError, match=rf"may not carry the parameter '{name}'; allowed: .*memory_limit"
    ):
        opener(_url(prepared_duckdb_url, **{name: value}))


@pytest.mark.parametrize("opener", [connect, connect_read_only])
@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        (
            "options",
            "-c default_transaction_read_only=off",
            "options may not set 'default_transaction_read_on",
        ),
        ("options", "--transaction-read-only=off", "options may not set 'transaction_read_only'"),
        ("options", "-crole=postgres", "options may not set 'role'"),
        ("options", "-c session_authorization=postgres", "options may not set 'session_authorization'"),
        ("options", "-c work_mem=1MB -c standard_conforming_strings=off", "may not set 'standard_conf"),
        ("options", r"-c work_mem=1MB\ -c -c role=x", "options may not set 'role'"),
        ("options", "-f", "options holds '-f', which sets nothing"),
        ("options", "-c", "options holds '-c', which sets nothing"),
        ("client_encoding", "SJIS", "may not carry the parameter 'client_encoding'"),
        ("plugin", "x", "may not carry the parameter 'plugin'"),
        ("replication", "database", "may not carry the parameter 'replication'"),
        ("aplication_name", "x", "Did you mean application_name?"),
    ],
)
def test_a_url_of_postgres_carries_no_other_parameter(
    postgres_url: str, opener: Any, name: str, value: str, told: str
) -> None:
    with pytest.raises(DatabaseError, match=told.replace("?", r"\?")):
        opener(_url(postgres_url, **{name: value}))


def test_what_a_url_may_carry_is_heard(
    prepared_duckdb_url: str, prepared_postgres_url: str, tmp_path: Path
) -> None:
    own = str(tmp_path / "spilled")
    given = _url(prepared_duckdb_url, threads="1", memory_limit="64MB", temp_directory=own)
    settings = "SELECT current_setting('threads'), current_setting('temp_directory') = '" + own + "'"
    with connect(given) as writer, writer.read() as session:
        assert [tuple(row.values()) for row in session.rows(settings)] == [(1, True)]
    with connect_read_only(given) as reader:
        assert question(reader, settings) == [(1, False)]
    listed = r"-c work_mem=7MB --search-path=public,\ csfcube"
    for opener in (connect, connect_read_only):
        with opener(_url(prepared_postgres_url, options=listed, application_name="mine")) as post:
            assert question(post, "SHOW work_mem") == [("7MB",)]
            assert question(post, "SHOW application_name") == [("mine",)]
            assert question(post, "SELECT COUNT(*) FROM candidates") == [(18,)]


def test_libpqs_variables_make_no_writer(prepared_postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGOPTIONS", "-c default_transaction_read_only=off")
    with pytest.raises(DatabaseError, match="PGOPTIONS may not set 'default_transaction_read_only'"):
        connect_read_only(prepared_postgres_url)
    monkeypatch.setenv("PGOPTIONS", "-c work_mem=9MB")
    monkeypatch.setenv("PGCLIENTENCODING", "SJIS")
    with connect_read_only(prepared_postgres_url) as reader:
        assert question(reader, "SHOW work_mem") == [("9MB",)]
        assert question(reader, "SHOW client_encoding") == [("UTF8",)]
        assert question(reader, "SHOW default_transaction_read_only") == [("on",)]
        with (
            reader.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection,
            pytest.raises(sa.exc.InternalError, match="read-only"),
        ):
            connection.execute(sa.text("DELETE FROM papers"))


# --- the query


ATTACKS_DUCKDB = [
    "PRAGMA enable_profiling",
    "PRAGMA database_size",
    "CALL pragma_version()",
    "SET VARIABLE x = 1",
    "RESET threads",
    "CREATE TEMP TABLE mine AS SELECT 1 AS one",
    "PREPARE p AS SELECT 1",
    "BEGIN",
    "VACUUM",
    "CHECKPOINT",
    "USE memory",
    "LOAD httpfs",
    "ATTACH ':memory:' AS m",
    "DETACH work",
    "EXPLAIN ANALYZE CREATE TEMP TABLE mine AS SELECT 1 AS one",
    "EXPLAIN ANALYZE CHECKPOINT",
    "EXPLAIN SET threads = 1",
    "EXPLAIN ANALYZE DELETE FROM papers",
    "EXPLAIN SELECT 1; DELETE FROM papers",
    "SELECT nextval('s')",
    "SELECT * FROM query('DELETE FROM papers')",
    "SELECT * FROM enable_logging(storage = 'file', storage_path = '/tmp/reader-log')",
    "SELECT * FROM read_duckdb('x.duckdb')",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM secret",
]


@pytest.mark.parametrize(
    "before", ["/* /* */ */ ", ";", " ; ", "\ufeff", "\u2003\u200b", "-- a\r;", ";/* a */\n"]
)
@pytest.mark.parametrize("way", WAYS)
def test_what_hides_an_explain_of_duckdb_lets_it_write_nothing(
    prepared_duckdb_url: str, before: str, way: Any
) -> None:
    log = Path(f"{find_file(sa.make_url(prepared_duckdb_url))}.wal")
    with connect_read_only(prepared_duckdb_url) as reader:
        for text in (f"EXPLAIN ANALYZE COPY (SELECT 1) TO '{log}'", "EXPLAIN ANALYZE DELETE FROM papers"):
            with pytest.raises(InputError, match=r"^DuckDB refuses the query: "):
                way(reader, f"{before}{text}")
    assert not log.exists()


def test_duckdb_takes_nothing_but_a_query(prepared_duckdb_url: str) -> None:
    import pyarrow as pa

    secret = pa.table({"one": [1]})  # DuckDB can read a caller's variables as tables
    with connect(prepared_duckdb_url) as writer, writer.begin() as session:
        session.execute("CREATE SEQUENCE s")
    with connect_read_only(prepared_duckdb_url) as reader:
        for text in ATTACKS_DUCKDB:
            for way in WAYS:
                with pytest.raises(InputError, match=r"^DuckDB refuses the query: "):
                    way(reader, text)
        assert count(reader, "papers") == 313
    assert secret.num_rows == 1


FILES = [
    "SELECT * FROM '{file}'",
    'SELECT * FROM "{file}"',
    "SELECT * FROM 'file://{file}'",
    "SELECT * FROM '{folder}/../{folder.name}/{file.name}'",
    "DESCRIBE '{file}'",
    "SUMMARIZE '{file}'",
    "PIVOT '{file}' ON name USING COUNT(*)",
    "EXPLAIN ANALYZE PIVOT '{file}' ON name USING COUNT(*)",
    "SELECT * FROM read_blob('{file}')",
    "SELECT * FROM system.main.\"READ_BLOB\" /* a */ ('{file}')",
    "SELECT * FROM read_duckdb('{file}', table_name = 'papers')",
    "SELECT * FROM read_text('{file}.wal')",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM query('FROM read_blob(''{file}'')')",
    "SELECT * FROM query_table('{file}')",
    "SELECT * FROM histogram('{file}', name)",
    "SELECT (SELECT COUNT(*) FROM '{file}')",
    "WITH one AS MATERIALIZED (FROM read_blob('{file}')) SELECT * FROM one",
    "SELECT name FROM corpora ORDER BY (SELECT COUNT(*) FROM read_blob('{file}'))",
    "SELECT list_transform([1], LAMBDA a: (SELECT MAX(size) FROM read_blob('{file}')))",
    "PIVOT (FROM read_blob('{file}')) ON size USING COUNT(*)",
    "WITH one AS (PIVOT (FROM read_blob/**/('{file}')) ON size USING COUNT(*)) SELECT * FROM one",
]
IN_THE_WORKING_FOLDER = [
    "FROM reader.duckdb",
    "FROM reader . duckdb",
    "FROM reader/* a */./* /* b */ */duckdb",
    'FROM "reader"."duckdb"',
    "TABLE 'reader.duckdb'",
    "PIVOT reader.duckdb ON one USING COUNT(*)",
    "PIVOT reader . duckdb ON one USING COUNT(*)",
    'PIVOT reader."duckdb" ON one USING COUNT(*)',
    "PIVOT reader.-- b\nduckdb ON one USING COUNT(*)",
    "PIVOT reader./* /* b */ */duckdb ON one USING COUNT(*)",
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("text", FILES)
def test_no_query_reads_the_file_of_the_database_by_its_name(
    prepared_duckdb_url: str, text: str, way: Any
) -> None:
    file = find_file(sa.make_url(prepared_duckdb_url))
    assert file is not None
    asked = text.format(file=file, folder=file.parent)
    with (
        connect_read_only(prepared_duckdb_url) as reader,
        pytest.raises(InputError, match=r"^DuckDB refuses the query: .*; expected tables and views\.$"),
    ):
        way(reader, asked)


def test_no_query_reads_the_file_of_the_database_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with connect("reader.duckdb") as writer, writer.begin() as session:
        session.execute("CREATE TABLE one AS SELECT 1 AS one")  # a file of one table is read as that table
    with connect_read_only("reader.duckdb") as reader:
        for text in IN_THE_WORKING_FOLDER:
            with pytest.raises(InputError, match=r"a file's name; expected tables and views\.$"):
                question(reader, text)


def test_duckdbs_functions_that_read_no_file_are_called(prepared_duckdb_url: str) -> None:
    with connect(prepared_duckdb_url) as writer, writer.begin() as session:
        session.execute("CREATE MACRO named(corpus) AS TABLE SELECT * FROM corpora WHERE name = corpus")
        session.execute("CREATE TABLE db AS SELECT 1 AS json")
    with connect_read_only(prepared_duckdb_url) as reader:
        for text in (
            "SELECT * FROM range(3)",
            "SELECT * FROM RANGE(3) AS r (n), unnest([n]) AS u (m), generate_series(1, 2)",
            'SELECT * FROM json_each(\'["x.duckdb", "read_blob(1)"]\')',
            "SELECT column_name FROM duckdb_columns() WHERE table_name = 'papers'",
            "SELECT name FROM pragma_table_info('papers')",
            "SELECT name FROM named('csfcube')",
            "SELECT t.json FROM db AS t",
            "WITH query (url) AS (VALUES ('a/b.csv')) SELECT url -- read_csv (1)\nFROM query",
            f"SELECT {'+'.join(['1'] * 900)}",
            f"SELECT {'abs(' * 300}1{')' * 300}",
            "EXPLAIN SELECT * FROM range(3)",
            "PIVOT db ON json USING COUNT(*)",
        ):
            for way in WAYS:
                assert way(reader, text), text


ATTACKS_POSTGRES = [
    "SET TRANSACTION READ WRITE",
    "RESET ROLE",
    "SET ROLE postgres",
    "DO $$ BEGIN DELETE FROM papers; END $$",
    "CALL x()",
    "COPY (SELECT 1) TO PROGRAM 'true'",
    "COPY (SELECT 1) TO STDOUT",
    "LISTEN x",
    "LOCK TABLE papers",
    "SELECT 1 INTO mine",
    "EXPLAIN ANALYZE SELECT 1 AS one INTO mine",
    "EXPLAIN ANALYZE CREATE TABLE mine AS SELECT 1 AS one",
    "/* /* */ SELECT 1 -- */ CREATE TABLE mine AS SELECT 1 AS one",
    "EXPLAIN ANALYZE /* /* */ SELECT 1 -- */ */ CREATE TABLE mine AS SELECT 1 AS one",
    "EXPLAIN ( /* ) SELECT 1 -- */ ANALYZE) CREATE TABLE mine AS SELECT 1 AS one",
    "EXPLAIN ANALYZE DELETE FROM papers",
    "EXPLAIN SELECT 1; DELETE FROM papers",
    "SHOW work_mem; DELETE FROM papers",
    "SELECT 1; ROLLBACK; DELETE FROM papers",
    "SELECT * FROM papers FOR UPDATE",
    "SELECT set_config('role', 'none', TRUE)",
    "SELECT pg_catalog.set_config('role', 'none', TRUE)",
    "SELECT SET_CONFIG ('role', 'none', TRUE)",
    "SELECT \"set_config\"('role', 'none', TRUE)",
    "SELECT set_config/* here */('role', 'none', TRUE)",
    "SELECT set_config/* /* nested */ */('role', 'none', TRUE)",
    "SELECT set_config -- here\n('role', 'none', TRUE)",
    "SELECT U&\"set\\005fconfig\"('role', 'none', TRUE)",
    "SELECT U&\"set!005fconfig\" UESCAPE '!' ('role', 'none', TRUE)",
    "SELECT 'a' FROM papers WHERE (SELECT set_config('role', 'none', TRUE)) = ''",
    "EXPLAIN ANALYZE SELECT set_config('role', 'none', TRUE)",
    "SELECT query_to_xml('SELECT set_config(''role'', ''none'', TRUE)', TRUE, TRUE, '')",
    "SELECT * FROM ts_stat('SELECT title FROM papers')",
    "SELECT nextval('s')",
    "SELECT setval('s', 7)",
    "SELECT lo_import('/etc/hostname')",
    "SELECT lo_export(1, '/tmp/reader-export')",
    "SELECT lo_create(0)",
    "SELECT pg_read_file('/etc/hostname')",
    "SELECT pg_read_binary_file('/etc/hostname')",
    "SELECT * FROM pg_ls_dir('/')",
    "SELECT pg_stat_file('/etc/hostname')",
    "SELECT pg_reload_conf()",
    "SELECT pg_rotate_logfile()",
    "SELECT pg_switch_wal()",
    "SELECT pg_create_physical_replication_slot('reader')",
    "SELECT * FROM pg_create_logical_replication_slot('reader', 'pgoutput')",
    "SELECT pg_drop_replication_slot('reader')",
    "SELECT pg_terminate_backend(pg_backend_pid())",
    "SELECT pg_cancel_backend(1)",
    "SELECT pg_advisory_lock(1346981441)",
    "SELECT pg_advisory_xact_lock(1346981441)",
    "SELECT pg_try_advisory_lock_shared(1346981441)",
    "SELECT pg_notify('a', 'b')",
    "SELECT pg_export_snapshot()",
    "SELECT pg_sleep(1000)",
    "SELECT dblink('dbname=postgres', 'DELETE FROM papers')",
    "SELECT delete_all()",
    'SELECT "delete them all"()',
    "SELECT * FROM pg_authid",
    "SELECT * FROM pg_shadow",
    "SELECT * FROM pg_file_settings",
    "SELECT * FROM pg_hba_file_rules",
]


@pytest.fixture
def attacked(prepared_postgres_url: str) -> Iterator[Database]:
    """A database that a superuser reads, where functions stand that would do harm."""
    with connect(prepared_postgres_url) as writer, writer.begin() as session:
        session.execute("CREATE SEQUENCE s")
        for name in ("delete_all", '"delete them all"', "dblink"):
            given = "text, text" if name == "dblink" else ""
            session.execute(
                f"CREATE FUNCTION {name}({given}) RETURNS INT LANGUAGE SQL SECURITY DEFINER "
                "AS 'DELETE FROM papers; SELECT 1'"
            )
    with connect_read_only(prepared_postgres_url) as reader:
        yield reader


def test_postgres_takes_nothing_but_a_query_without_effects(attacked: Database) -> None:
    for text in ATTACKS_POSTGRES:
        for way in WAYS:
            with pytest.raises(InputError, match=r"^(Postgres|the database) refuses the query: "):
                way(attacked, text)
    assert count(attacked, "papers") == 313
    assert count(attacked, "pg_replication_slots") == 0
    assert count(attacked, "pg_class WHERE relname = 'mine'") == 0


def test_a_superusers_query_runs_as_the_reader(attacked: Database) -> None:
    assert question(attacked, "SELECT CURRENT_USER, current_setting('transaction_read_only')") == [
        (READER_ROLE, "on")
    ]
    assert question(attacked, "SELECT rolsuper FROM pg_roles WHERE rolname = CURRENT_USER") == [(False,)]
    assert question(attacked, "SELECT COUNT(*) FROM citation_links") == [(count(attacked, "citation_links"),)]


def test_a_superusers_query_needs_the_reader(postgres_url: str) -> None:
    told = r"is a superuser, .* Run `pinakes init` once"
    with connect_read_only(postgres_url) as reader, pytest.raises(InputError, match=told):
        question(reader, "SELECT 1")


def test_on_a_connection_that_writes_a_users_query_only_reads(prepared_postgres_url: str) -> None:
    with connect(prepared_postgres_url) as writer:
        shown = question(writer, "SELECT current_setting('transaction_read_only')")
    assert shown == [("on",)]


def test_what_changes_nothing_is_called(read_only: Database) -> None:
    for text in (
        "SELECT COUNT(*) FROM papers AS p (a, b) WHERE title LIKE '%set_config%'",
        "WITH odd (n) AS (VALUES (1), (2)) SELECT SUM(n) OVER () FROM odd WHERE n IN (1, 2) -- set_config",
        "SELECT COUNT(*) FROM papers TABLESAMPLE bernoulli (50)"
        if read_only.name == "postgresql"
        else "SELECT COUNT(*) FROM papers USING SAMPLE 50%",
        "SELECT random() < 2, gen_random_uuid() IS NULL",
        "SELECT md5(title), CAST(1.5 AS NUMERIC(10, 2)) FROM papers ORDER BY paper_id LIMIT 1",
        "TABLE corpora",
        "VALUES (1)",
        "(SELECT 1)",
        "SELECT 1;",
        "/* a */ -- b\nSELECT 1",
    ):
        assert question(read_only, text)


def test_functions_called_harmless_are_those_of_postgres(attacked: Database) -> None:
    listed = ", ".join(f"'{name}'" for name in HARMLESS_FUNCTIONS)
    found = question(
        attacked,
        f"SELECT DISTINCT proname FROM pg_proc WHERE proname IN ({listed}) AND provolatile = 'v' "
        "AND pronamespace = 'pg_catalog'::regnamespace",
    )
    newer = {"uuidv4", "uuidv7"}
    assert {name for (name,) in found} | newer == set(HARMLESS_FUNCTIONS)


# --- plans and settings


def test_plans_are_shown(read_only: Database) -> None:
    for text in (
        "EXPLAIN SELECT COUNT(*) FROM papers",
        "EXPLAIN ANALYZE SELECT COUNT(*) FROM papers",
        "-- a plan\nexplain analyze with one as (select 1) select * from one",
        "EXPLAIN (FORMAT JSON) SELECT 1",
    ):
        assert len(question(read_only, text)) > 0
        assert len(as_arrow(read_only, text)) > 0


def test_settings_and_columns_are_shown(prepared_duckdb_url: str, prepared_postgres_url: str) -> None:
    with connect_read_only(prepared_postgres_url) as post:
        assert question(post, "SHOW transaction_read_only") == [("on",)]
        assert ("work_mem", "4MB") in {row[:2] for row in question(post, "show all")}
    with connect_read_only(prepared_duckdb_url) as duck:
        assert ("papers",) in question(duck, "SHOW TABLES")
        assert "paper_id" in {row[0] for row in question(duck, "DESCRIBE papers")}
        assert "paper_id" in {row[0] for row in question(duck, "SUMMARIZE papers")}
        assert question(duck, "PIVOT (SELECT 1 AS a, 2 AS b) ON a USING SUM(b)") == [(2,)]


# --- limits


ENDLESS = {
    "duckdb": "SELECT COUNT(*) FROM range(1000000000000) AS a (n) WHERE n % 7 = 3",
    "postgresql": "SELECT COUNT(*) FROM generate_series(1, 1000000000000) AS a (n) WHERE n % 7 = 3",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_query_that_takes_too_long_is_ended(read_only: Database, way: Any) -> None:
    told = r"^the query took longer than the 0\.2 seconds that --timeout allows"
    with pytest.raises(InputError, match=told):
        way(read_only, ENDLESS[read_only.name], timeout_s=0.2)
    assert question(read_only, "SELECT 1", timeout_s=60) == [(1,)]


def test_a_query_of_too_many_rows_is_ended(read_only: Database) -> None:
    text = "SELECT paper_id FROM papers ORDER BY paper_id"
    for way in WAYS:
        assert len(way(read_only, text, max_rows=313)) == 313
        with pytest.raises(InputError, match="more than the 312 rows that --max-rows allows"):
            way(read_only, text, max_rows=312)


# --- roles and locks of Postgres


@pytest.fixture
def ordinary(postgres_server: PostgresServer, postgres_url: str) -> Iterator[tuple[str, str]]:
    """The URLs of a new database by its owner, who is no superuser, and by somebody who may only read."""
    name = str(sa.make_url(postgres_url).database)
    with postgres_server.engine.connect() as server:
        for role in (f"{name}_owner", f"{name}_reader"):
            server.execute(sa.text(f'CREATE ROLE "{role}" LOGIN'))
        if not server.execute(sa.text(f"SELECT 1 FROM pg_roles WHERE rolname = '{READER_ROLE}'")).first():
            server.execute(sa.text(f"CREATE ROLE {READER_ROLE} NOLOGIN"))
        server.execute(sa.text(f'GRANT {READER_ROLE} TO "{name}_owner", "{name}_reader"'))
        server.execute(sa.text(f'ALTER DATABASE "{name}" OWNER TO "{name}_owner"'))
    with connect(postgres_url) as database, database.begin() as session:
        session.execute("CREATE EXTENSION vector")
    given = sa.make_url(postgres_url)
    yield (
        given.set(username=f"{name}_owner").render_as_string(hide_password=False),
        given.set(username=f"{name}_reader").render_as_string(hide_password=False),
    )
    with postgres_server.engine.connect() as server:
        server.execute(sa.text(f'ALTER DATABASE "{name}" OWNER TO CURRENT_USER'))
    with connect(postgres_url) as database, database.begin() as session:
        for role in (f"{name}_owner", f"{name}_reader"):
            session.execute(f'REASSIGN OWNED BY "{role}" TO CURRENT_USER')
            session.execute(f'DROP OWNED BY "{role}"')
            session.execute(f'DROP ROLE "{role}"')


def test_an_ordinary_owner_and_a_reader_share_a_database(ordinary: tuple[str, str]) -> None:
    by_owner, by_reader = ordinary
    with connect(by_owner) as owner:
        initialise(owner)
        assert warn_of_rights(owner) is None
        with owner.begin() as session:
            session.execute("CREATE TABLE vectors_later (n INT)")
        assert question(owner, "SELECT CURRENT_USER") == [(READER_ROLE,)]
    with connect_read_only(by_reader) as reader:
        assert question(reader, "SELECT CURRENT_USER") == [(READER_ROLE,)]
        assert question(reader, "SELECT COUNT(*) FROM csfcube.queries") == [(0,)]
        assert question(reader, "SELECT COUNT(*) FROM vectors_later") == [(0,)]
    with connect(by_reader) as reader:
        assert not install_benchmark(reader, read_benchmark("csfcube"))  # as every report begins
    told = r"may not do that \(permission denied for table schema_version"
    with connect(by_reader) as reader, pytest.raises(DatabaseError, match=told), reader.begin():
        pass


def test_a_reader_does_not_hold_writers_up(ordinary: tuple[str, str]) -> None:
    by_owner, by_reader = ordinary
    with connect(by_owner) as owner:
        initialise(owner)
    plain = sa.make_url(by_reader).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain) as reader:
        reader.execute("SELECT pg_advisory_lock(1346981441)")  # what writers of Pinakes once waited for
        reader.execute("SELECT * FROM schema_version")
        for mode in ("ROW SHARE", "ROW EXCLUSIVE", "SHARE ROW EXCLUSIVE", "EXCLUSIVE"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), reader.transaction():
                reader.execute(f"LOCK TABLE schema_version IN {mode} MODE")
        with pytest.raises(psycopg.errors.InsufficientPrivilege), reader.transaction():
            reader.execute("SELECT * FROM schema_version FOR SHARE")
        with connect(_url(by_owner, options="-c lock_timeout=2s")) as owner, owner.begin() as session:
            session.execute("CREATE TABLE mine (n INT)")


def test_the_second_writer_waits_for_the_first_also_where_that_makes_the_tables(postgres_url: str) -> None:
    impatient = _url(postgres_url, options="-c lock_timeout=50ms")
    with connect(postgres_url) as first, connect(postgres_url) as second, connect(impatient) as third:
        entered, done = threading.Event(), threading.Event()

        def write() -> None:
            with second.begin():
                entered.set()
                done.wait(60)

        waiting = threading.Thread(target=write)
        with first.begin() as session:
            session.execute("CREATE TABLE schema_version (version INT)")
            waiting.start()
            assert not entered.wait(0.3)
        assert entered.wait(60)
        # It waited before there was a table, and holds the table now as a later writer would.
        with pytest.raises(DatabaseError, match="lock timeout"), third.begin():
            pass
        done.set()
        waiting.join()


def test_init_warns_a_superuser(initialised_postgres: Database, initialised_duckdb: Database) -> None:
    told = warn_of_rights(initialised_postgres)
    assert told is not None
    assert told.startswith("this Postgres user is a superuser")
    assert warn_of_rights(initialised_duckdb) is None


def test_an_index_is_built_by_one_process_and_a_reader_does_not_stop_it(
    ordinary: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pgvector_index, "LOCK_TRIES", 2)
    by_owner, by_reader = ordinary
    naps: list[float] = []
    table = sa.Table("vectors_toy", sa.MetaData())
    with connect(by_owner) as owner, connect(by_reader) as reader:
        initialise(owner)
        with owner.begin() as session:
            session.execute("CREATE TABLE vectors_toy (embedding vector(2))")
        with reader.read() as asking, owner.begin() as session:
            asking.scalar("SELECT pg_advisory_xact_lock(hashtext('pinakes vectors_toy_hnsw'))")
            asking.scalar("SELECT COUNT(*) FROM vectors_toy")
            pgvector_index._lock(session, table, naps.append)
            with owner.read() as other, pytest.raises(IndexingError, match="built by another process"):
                pgvector_index._lock(other, table, naps.append)
    assert naps == [pgvector_index.WAIT_S] * 2


# --- the commands


def test_the_commands_hold_the_limits_and_refuse_the_rest(call: Call, tmp_path: Path) -> None:
    text = "SELECT paper_id FROM papers ORDER BY paper_id"
    assert call("sql", text, "--max-rows", 313, "--timeout", 60).code == 0
    refused = call("sql", text, "--max-rows", 312)
    assert (refused.code, "more than the 312 rows" in refused.err) == (1, True)
    assert call("export", "--sql", text, tmp_path / "x.csv", "--max-rows", 312).code == 1
    assert call("export", "papers", tmp_path / "x.csv", "--max-rows", 312).code == 1
    assert list(tmp_path.glob("x.csv*")) == []
    assert call("sql", "EXPLAIN SELECT 1").code == 0
    given = _url(os.environ["PINAKES_DATABASE_URL"], access_mode="READ_WRITE")
    for command in (("sql", "SELECT 1"), ("status",), ("report", "csfcube"), ("search", "scifact", "graph")):
        outcome = call(*command, "--db", given)
        assert outcome.code == 1
        assert "may not carry the parameter 'access_mode'" in outcome.err


READING = """
import sys, duckdb
with duckdb.connect(sys.argv[1], read_only=True):
    print("open", flush=True)
    sys.stdin.readline()
"""


def _read_elsewhere(url: str) -> AbstractContextManager[object]:
    """Another process has the DuckDB file open to read; a Postgres server has room for all."""
    file = find_file(read_address(url))
    return nullcontext() if file is None else start_process(READING, str(file), ready="open")


def test_several_read_one_duckdb_file(call: Call, prepared_url: str, tmp_path: Path) -> None:
    assert call("index", "scifact", "-s", "bm25").code == 0
    assert call("run", "scifact", "-s", "bm25", "--json").code == 0
    assert call("evaluate", "scifact").code == 0
    commands = (
        ("report", "scifact"),
        ("search", "scifact", "graph", "-s", "bm25"),
        ("compare", "scifact", "--all-runs"),
        ("errors", "scifact"),
        ("agreement", "csfcube"),
        ("export", "run", 1, tmp_path / "a.run"),
        ("export", "qrels", "scifact", tmp_path / "a.qrels"),
        ("export", "beir", tmp_path / "beir", "--benchmark", "scifact"),
        ("export", "mteb", tmp_path / "mteb", "--benchmark", "scifact"),
    )
    alone = [call(*words) for words in commands]
    shutil.rmtree(tmp_path / "beir")
    shutil.rmtree(tmp_path / "mteb")
    with _read_elsewhere(prepared_url):
        beside = [call(*words) for words in commands]
    assert [(one.code, one.out) for one in beside] == [(one.code, one.out) for one in alone]
    assert {one.code for one in alone[:2] + alone[3:]} == {0}


def test_who_looks_at_a_benchmark_renews_its_views_first(call: Call, prepared_url: str) -> None:
    with connect(prepared_url) as database, database.begin() as session:
        session.execute("UPDATE benchmarks SET definition_digest = '' WHERE name = 'scifact'")
    assert call("export", "qrels", "scifact", "a.qrels").code == 0
    with connect(prepared_url) as database, database.read() as session:
        assert session.scalar("SELECT definition_digest FROM benchmarks WHERE name = 'scifact'")


def test_init_says_that_its_user_is_a_superuser(
    initialised_postgres: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    url = initialised_postgres.url.render_as_string(hide_password=False)
    outcome = make_call(capsys)("init", "--db", url)
    assert outcome.code == 0
    assert "pinakes: warning: this Postgres user is a superuser" in outcome.err
