"""Databases of older schema versions are brought to this one, and are then as if made by it."""

import os
import re
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from pinakes.database import Database, connect, core, lock_wait
from pinakes.database.read_only import ask
from pinakes.database.reader_role import make_reader_role, open_to_readers
from pinakes.errors import DatabaseBusyError, DatabaseError, SchemaVersionError
from pinakes.queries.install import initialise
from pinakes.schema import SCHEMA_VERSION, benchmarks, check_schema, create
from pinakes.schema import upgrade as upgrading
from pinakes.schema.create import OLDEST_VERSION, find_version
from pinakes.schema.upgrade import Step, list_benchmarks_without_views, list_steps, upgrade
from tests.calling import Call, make_call
from tests.catalogs import describe
from tests.long import long
from tests.postgres import PostgresServer
from tests.stored_schemas import list_versions, read_tables, restore
from tests.warm import Warm

_NUMBERS = count(1)
NEXT = SCHEMA_VERSION + 1
STEPS = (
    Step(
        NEXT,
        f"{NEXT:04d}-notes",
        "Runs have notes.",
        (
            (
                "both",
                "CREATE TABLE run_notes (run_id BIGINT NOT NULL, note TEXT NOT NULL, PRIMARY KEY (run_id))",
            ),
            ("both", "ALTER TABLE runs ADD COLUMN note_count INTEGER DEFAULT 1 NOT NULL"),
            ("both", "ALTER TABLE runs ALTER COLUMN note_count DROP DEFAULT"),
            ("both", "INSERT INTO run_notes SELECT run_id, 'of ' || system || ': 100 % :right' FROM runs"),
        ),
    ),
    Step(
        NEXT + 1,
        f"{NEXT + 1:04d}-texts",
        "The analyses of texts go.",
        (
            ("both", "UPDATE run_notes SET note = note || '!'"),
            ("duckdb", "INSERT INTO run_notes VALUES (1000, 'duckdb')"),
            ("postgresql", "INSERT INTO run_notes VALUES (1000, 'postgresql')"),
        ),
    ),
)
"""two versions that are still to come"""
LAST = STEPS[-1].version


@pytest.fixture(scope="module")
def stored_duckdb(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    """A function from a version to a DuckDB file of it, made when it is first asked for."""
    folder = tmp_path_factory.mktemp("stored")

    @cache
    def make(version: int) -> Path:
        file = folder / f"{version}.duckdb"
        with connect(file) as database:
            restore(database, version)
        return file

    return make


@pytest.fixture(scope="module")
def stored_postgres(postgres_server: PostgresServer) -> Iterator[Callable[[int], str]]:
    """A function from a version to the name of a Postgres database of it, made when it is first asked for."""
    with ExitStack() as stack:

        @cache
        def make(version: int) -> str:
            name = f"pinakes_stored_{os.getpid()}_{version}"
            with connect(stack.enter_context(postgres_server.create(name))) as database:
                restore(database, version)
            return name

        yield make


@pytest.fixture
def postgres_of(
    postgres_server: PostgresServer, stored_postgres: Callable[[int], str]
) -> Iterator[Callable[[int], str]]:
    """A function from a version to the URL of a Postgres database of it, dropped after the test."""
    with ExitStack() as stack:
        yield lambda version: stack.enter_context(
            postgres_server.create(f"{stored_postgres(version)}_{next(_NUMBERS)}", stored_postgres(version))
        )


@pytest.fixture(params=["duckdb", "postgresql"])
def database_of(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[int], str]:
    """A function from a version to the URL of a database of it: DuckDB, then Postgres."""
    if request.param == "postgresql":
        url_of: Callable[[int], str] = request.getfixturevalue("postgres_of")
        return url_of
    stored: Callable[[int], Path] = request.getfixturevalue("stored_duckdb")
    return lambda version: f"duckdb:///{shutil.copy(stored(version), tmp_path / 'old.duckdb')}"


@pytest.fixture
def stored_url(database_of: Callable[[int], str]) -> str:
    """The URL of a database of this version, as it was stored."""
    return database_of(SCHEMA_VERSION)


@pytest.fixture
def stored(stored_url: str) -> Iterator[Database]:
    with connect(stored_url) as database:
        yield database


@pytest.fixture
def fresh(
    database_of: Callable[[int], str], stored_url: str, request: pytest.FixtureRequest
) -> Iterator[Database]:
    """A database of the same kind that this Pinakes made."""
    if stored_url.startswith("duckdb"):  # not a copy: it is only read
        with connect(request.getfixturevalue("benchmarks_duckdb")) as opened:
            yield opened
    else:
        made: Database = request.getfixturevalue("initialised_postgres")
        yield made


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """The command line in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return make_call(capsys)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Pinakes that is two versions ahead."""
    monkeypatch.setattr(create, "SCHEMA_VERSION", LAST)
    monkeypatch.setattr(upgrading, "list_steps", lambda: list(STEPS))


def version_of(database: Database) -> int | None:
    with database.read() as session:
        return find_version(session)


def test_every_version_since_the_oldest_has_a_step_and_a_stored_database() -> None:
    assert [step.version for step in list_steps()] == list(range(OLDEST_VERSION + 1, SCHEMA_VERSION + 1))
    assert list_versions() == list(range(OLDEST_VERSION, SCHEMA_VERSION + 1))


@pytest.mark.parametrize("step", list_steps(), ids=lambda step: step.name)
def test_a_step_says_why_and_has_statements_that_change_no_view(step: Step) -> None:
    assert step.reason.endswith(".")
    assert step.blocks
    assert {name for name, _ in step.blocks} <= {"both", "duckdb", "postgresql"}
    for _, statement in step.blocks:
        assert not statement.endswith(";")
        assert not re.search(r"(?i)\b(create (or replace )?view|comment on|schema_version)\b", statement)


def test_files_of_other_names_are_no_steps(tmp_path: Path) -> None:
    (tmp_path / "0013-b.sql").write_text("-- Why\n-- not.\n\n-- name: duckdb\nSELECT 1\n")
    (tmp_path / "0012-a.sql").write_text("-- So.\n-- name: both\nSELECT ';'\n\n-- name: both\nSELECT 2\n")
    for other in ("README.md", "12-a.sql", "0014.sql"):
        (tmp_path / other).write_text("-- name: both\nSELECT 1\n")
    first, second = list_steps(tmp_path)
    assert (first.name, first.reason, second.reason) == ("0012-a", "So.", "Why not.")
    assert first.list_statements("postgresql") == [
        "SELECT ';'",
        "SELECT 2",
        "UPDATE schema_version SET version = 12",
    ]
    assert second.list_statements("postgresql") == ["UPDATE schema_version SET version = 13"]


def keep_schema(described: dict[str, list[tuple[Any, ...]]]) -> dict[str, list[tuple[Any, ...]]]:
    """Without tables of vectors, which come with an encoder."""
    return {
        kind: [row for row in rows if "vectors_" not in str(row[0]) and "vectors_" not in str(row[1])]
        for kind, rows in described.items()
    }


def check_same(found: Database, fresh: Database) -> None:
    have, expected = keep_schema(describe(found)), keep_schema(describe(fresh))
    for kind, rows in expected.items():
        assert [row for row in have[kind] if row not in rows] == [], kind
        assert [row for row in rows if row not in have[kind]] == [], kind


def test_the_stored_database_of_this_version_is_as_this_version_makes_it(
    stored: Database, fresh: Database
) -> None:
    """Else tables or views were changed without a new version; see schema/upgrades/README.md."""
    check_same(stored, fresh)


@pytest.mark.in_turn
@pytest.mark.parametrize(
    "version",
    # From the oldest all steps are taken, from the last but one the newest.
    [long(one) if OLDEST_VERSION < one < SCHEMA_VERSION - 1 else one for one in list_versions()],
)
def test_a_stored_database_is_upgraded_with_all_its_rows(
    version: int, database_of: Callable[[int], str], fresh: Database, here: Call, toy_folder: str
) -> None:
    database_url = database_of(version)
    with connect(database_url) as database:
        before = read_tables(database)
    if version < SCHEMA_VERSION:
        refused = here("status", "--db", database_url)
        assert refused.code == 1
        assert f"schema version {version}, " in refused.err
        assert "Run `pinakes upgrade`" in refused.err
    upgraded = here("upgrade", "--db", database_url)
    assert upgraded.code == 0, upgraded.err
    assert f"the tables have schema version {SCHEMA_VERSION}: " in upgraded.err
    with connect(database_url) as database:
        check_same(database, fresh)
        check_rows_stay(before, read_tables(database))
        after = read_tables(database)
    again = here("upgrade", "--db", database_url)
    assert (again.code, "no step was missing" in again.err) == (0, True)
    with connect(database_url) as database:
        assert read_tables(database) == after
        check_vectors(database)
    if version < SCHEMA_VERSION:
        check_use(database_url, here, toy_folder)


@pytest.mark.long
def test_a_stored_database_of_this_version_can_be_used(stored_url: str, here: Call, toy_folder: str) -> None:
    check_use(stored_url, here, toy_folder)


CHANGED = {"schema_version", "benchmarks", "published_scores", "benchmark_corpora", "suite_figures"}
"""tables whose rows are not the user's: what they hold is this version's"""


def check_rows_stay(before: dict[str, list[dict[str, Any]]], after: dict[str, list[dict[str, Any]]]) -> None:
    for table in before.keys() - CHANGED:
        kept = before[table][0].keys() & after[table][0].keys() if before[table] else set()
        have = sorted(repr([row[name] for name in sorted(kept)]) for row in after[table])
        assert have == sorted(repr([row[name] for name in sorted(kept)]) for row in before[table]), table


def check_vectors(database: Database) -> None:
    """The stored vectors are vectors for the database: the nearest to each is itself."""
    nearest = {
        "duckdb": "array_distance(one.embedding, other.embedding)",
        "postgresql": "one.embedding <-> other.embedding",
    }[database.name]
    query = (
        "SELECT COUNT(*) FROM vectors_toy_fp32 AS one INNER JOIN vectors_toy_fp32 AS other "
        f"ON {nearest} < 1e-9 WHERE one.text_digest = other.text_digest"
    )
    with database.read() as session:
        stored = session.scalar("SELECT COUNT(*) FROM vectors_toy_fp32")
        assert session.scalar(query) == stored > 100


def check_use(url: str, here: Call, toy_folder: str) -> None:
    """What was scored is scored alike; what was ranked or encoded is not made again; what is new works."""
    toy = (toy_folder, "--precision", "fp32", "--device", "cpu", "--db", url)
    status = here("status", "--json", "--db", url).data
    assert [row["system"] for row in status["runs"]] == ["bm25", "tfidf", "toy"]
    assert {row["kind"] for row in status["side_indexes"]} == {"bm25", "tfidf"}
    assert status["database"] == [{"schema_version": SCHEMA_VERSION}]
    figures = "SELECT run_id, measure, subset, query_id, value FROM scores ORDER BY 1, 2, 3, 4"
    scored = here("sql", figures, "--db", url).out
    assert here("evaluate", "synthetic", "--quiet", "--db", url).code == 0
    assert here("sql", figures, "--db", url).out == scored
    assert here("index", "synthetic", "--json", "--system", *toy).data[0]["added"] == 0
    for system in (
        "bm25",
        "tfidf",
        "sparse_bm25",
    ):  # files of indexes lie beside a database, and are not stored
        assert here("index", "synthetic", "--system", system, "-q", "--db", url).code == 0
    assert here("load", "synthetic", "--papers", "130", "--quiet", "--db", url).code == 0
    assert here("status", "--check", "--db", url).code == 0
    assert here("index", "synthetic", "--system", "bm25", "-q", "--db", url).code == 0
    ran = here("run", "synthetic", "--system", "bm25", "--json", "--db", url)
    assert [row["existing"] for row in ran.data] == [False]


@pytest.mark.parametrize("version", [SCHEMA_VERSION + 1, OLDEST_VERSION - 1])
def test_newer_and_oldest_databases_are_refused_and_left(version: int, stored_url: str, here: Call) -> None:
    words = {
        SCHEMA_VERSION + 1: "made by a newer Pinakes. Install that version or a newer one.",
        OLDEST_VERSION - 1: "made by an older Pinakes. Load the corpora into a new database.",
    }[version]
    with connect(stored_url) as database, database.begin() as session:
        session.execute("UPDATE schema_version SET version = :version", {"version": version})
    for command in (("upgrade",), ("upgrade", "--dry-run"), ("status",), ("init",)):
        told = here(*command, "--db", stored_url)
        assert (told.code, words in told.err) == (1, True), told.err
    with connect(stored_url) as database:
        assert version_of(database) == version


def test_a_database_without_tables_is_not_upgraded(database_url: str, here: Call) -> None:
    with connect(database_url):
        pass
    told = here("upgrade", "--db", database_url)
    assert (told.code, "make them with `pinakes init`" in told.err) == (1, True)


@pytest.mark.usefixtures("later")
def test_an_older_database_names_the_command_and_all_steps_are_made_once(
    stored: Database, stored_url: str
) -> None:
    for asked in (check_schema, initialise):
        with pytest.raises(SchemaVersionError, match=r"older Pinakes\. Run `pinakes upgrade`, which keeps"):
            asked(stored)
    assert upgrade(stored) == list(STEPS)
    assert upgrade(stored) == []
    check_schema(stored)
    with stored.read() as session:
        notes = session.rows("SELECT run_id, note FROM run_notes ORDER BY run_id")
        counts = session.scalar("SELECT SUM(note_count) FROM runs")
    assert [tuple(row.values()) for row in notes] == [
        (1, "of bm25: 100 % :right!"),
        (2, "of tfidf: 100 % :right!"),
        (3, "of toy: 100 % :right!"),
        (1000, stored.name),
    ]
    assert counts == 3


@pytest.mark.in_turn
@pytest.mark.usefixtures("later")
def test_a_dry_run_prints_the_steps_of_this_database_and_changes_nothing(stored_url: str, here: Call) -> None:
    with connect(stored_url) as database:
        before = (describe(database), read_tables(database))
        name = database.name
    told = here("upgrade", "--dry-run", "--db", stored_url)
    assert told.code == 0
    assert told.out.count("UPDATE schema_version SET version = ") == 2
    assert f"INSERT INTO run_notes VALUES (1000, '{name}');" in told.out
    assert told.out.count("INSERT INTO run_notes VALUES") == 1
    assert "Nothing was changed." in told.err
    with connect(stored_url) as database:
        assert (describe(database), read_tables(database)) == before


@pytest.mark.in_turn
@pytest.mark.usefixtures("later")
def test_stopped_before_any_statement_it_changes_nothing(
    stored: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (describe(stored), read_tables(stored))
    run = core.Session.execute_as_written
    statements = sum(len(step.list_statements(stored.name)) for step in STEPS)
    for stop in range(statements + 1):
        left = iter(range(stop))

        def fail(session: core.Session, text: str, left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise KeyboardInterrupt
            run(session, text)

        with monkeypatch.context() as patch:
            patch.setattr(core.Session, "execute_as_written", fail)
            with pytest.raises(KeyboardInterrupt):
                upgrade(stored)
        assert (describe(stored), read_tables(stored)) == before
    assert upgrade(stored) == list(STEPS)


KILLED = """
import os, signal, sys
from pinakes.database import core, connect
from pinakes.schema import create, upgrade
from tests.integration.test_upgrade import STEPS, LAST
create.SCHEMA_VERSION = LAST
run, left = core.Session.execute, [int(sys.argv[2])]
def count(session, statement, parameters=None):
    left[0] -= 1
    if left[0] < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return run(session, statement, parameters)
with connect(sys.argv[1]) as database:
    core.Session.execute = count
    upgrade.upgrade(database, STEPS)
"""


@pytest.mark.in_turn
def test_killed_and_started_again_it_ends_right(
    stored_url: str, warm: Warm, monkeypatch: pytest.MonkeyPatch
) -> None:
    for left in (3, 9, 40, 200):
        assert warm.run(KILLED, stored_url, left).code == -signal.SIGKILL
        with connect(stored_url) as database:
            assert version_of(database) == SCHEMA_VERSION
            check_schema(database)
    done = warm.run(KILLED, stored_url, 1_000_000)
    assert done.code == 0, done.err
    monkeypatch.setattr(create, "SCHEMA_VERSION", LAST)
    with connect(stored_url) as database:
        check_schema(database)
        with database.read() as session:
            assert session.scalar("SELECT COUNT(*) FROM run_notes") == 4


@pytest.mark.usefixtures("later")
def test_two_at_once_make_each_step_once(postgres_of: Callable[[int], str]) -> None:
    postgres_url = postgres_of(SCHEMA_VERSION)
    made: list[list[Step]] = []
    with connect(postgres_url) as one, connect(postgres_url) as two:
        threads = [threading.Thread(target=lambda at=at: made.append(upgrade(at))) for at in (one, two)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(map(len, made)) == [0, len(STEPS)]


@pytest.mark.usefixtures("later")
def test_who_holds_a_table_is_named_and_nothing_is_changed(
    postgres_of: Callable[[int], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres_url = postgres_of(SCHEMA_VERSION)
    monkeypatch.setattr(lock_wait, "LEAST_WAIT_S", 0.2)
    with connect(postgres_url) as database, connect(postgres_url) as other:
        with other.read() as session:
            held = session.scalar("SELECT pg_backend_pid() FROM runs LIMIT 1")
            with pytest.raises(DatabaseBusyError, match=f"at work in this database: process {held} of "):
                upgrade(database)
            assert version_of(database) == SCHEMA_VERSION
        assert upgrade(database) == list(STEPS)


@pytest.mark.usefixtures("later")
def test_a_reader_reads_what_an_upgrade_has_made(postgres_of: Callable[[int], str]) -> None:
    postgres_url = postgres_of(SCHEMA_VERSION)
    with connect(postgres_url) as database:
        with database.begin() as session:
            make_reader_role(session)
            open_to_readers(session, ["public"])
        upgrade(database)
        with ask(database, "SELECT COUNT(*) FROM run_notes INNER JOIN runs USING (run_id)") as result:
            assert [tuple(row) for row in result.rows] == [(3,)]


@pytest.mark.in_turn
@pytest.mark.usefixtures("later")
def test_what_a_user_made_on_a_table_stays_or_is_named(stored: Database) -> None:
    with stored.begin() as session:
        session.execute("CREATE VIEW my_runs AS SELECT run_id, system FROM runs")
        session.execute("CREATE VIEW my_judged AS SELECT * FROM judged_papers")
        session.execute("CREATE INDEX my_index ON runs (system)")
    if stored.name == "duckdb":
        with pytest.raises(DatabaseError, match=r"(?s)the step 00.*cannot be made.*drop that, upgrade"):
            upgrade(stored)
        assert version_of(stored) == SCHEMA_VERSION
        with stored.begin() as session:
            session.execute("DROP INDEX my_index")
    upgrade(stored)
    with stored.read() as session:
        assert session.scalar("SELECT COUNT(*) FROM my_runs") == 3
        assert session.scalar("SELECT COUNT(*) FROM my_judged") == 400


OTHER_ORDER = (
    "corpora.name AS corpus,\n    judgments.corpus_id,",
    "judgments.corpus_id,\n    corpora.name AS corpus,",
)


def change_view(monkeypatch: pytest.MonkeyPatch, view: str, old: str, new: str) -> None:
    read = create.read_view

    def read_changed(name: str) -> str:
        text = read(name)
        assert name != view or old in text
        return text.replace(old, new) if name == view else text

    monkeypatch.setattr(upgrading, "read_view", read_changed)


@pytest.mark.in_turn
@pytest.mark.usefixtures("later")
def test_a_view_with_other_columns_is_renewed_with_the_benchmarks_that_read_it(
    stored: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "SELECT * FROM synthetic.judgments ORDER BY query_id, paper_id"
    with stored.read() as session:
        before = session.rows(rows)
    assert before
    change_view(monkeypatch, "judged_papers", *OTHER_ORDER)
    upgrade(stored)
    with stored.read() as session:
        columns = session.fetch_arrow("SELECT * FROM judged_papers").column_names
    assert columns[:2] == ["corpus_id", "corpus"]
    renewed = initialise(stored)
    assert ("synthetic" in renewed) == (stored.name == "postgresql")
    assert list_benchmarks_without_views(stored) == []
    with stored.read() as session:
        assert session.rows(rows) == before


@pytest.mark.usefixtures("later")
def test_a_benchmark_whose_folder_is_gone_is_named_where_its_views_are(
    postgres_of: Callable[[int], str], monkeypatch: pytest.MonkeyPatch, here: Call
) -> None:
    postgres_url = postgres_of(SCHEMA_VERSION)
    row = {"name": "gone", "title": "", "citation": "", "licence": ""}
    with connect(postgres_url) as database, database.begin() as session:
        session.execute("CREATE SCHEMA gone")
        session.execute("CREATE VIEW gone.judgments AS SELECT source_id FROM judged_papers")
        added = sa.insert(benchmarks).values(**row, headline_measure="AP", definition_digest="x")
        session.execute(added)
    change_view(monkeypatch, "judged_papers", *OTHER_ORDER)
    told = here("upgrade", "--db", postgres_url)
    assert told.code == 0, told.err
    assert "warning: no folder has the benchmarks gone, whose views" in told.err


@pytest.mark.usefixtures("later")
def test_a_view_of_a_users_own_on_other_columns_is_named(
    postgres_of: Callable[[int], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres_url = postgres_of(SCHEMA_VERSION)
    with connect(postgres_url) as database:
        with database.begin() as session:
            session.execute("CREATE VIEW mine AS SELECT * FROM judged_papers")
        change_view(monkeypatch, "judged_papers", *OTHER_ORDER)
        with pytest.raises(DatabaseError, match=r"(?s)the view judged_papers cannot.*view mine depends"):
            upgrade(database)
        assert version_of(database) == SCHEMA_VERSION
        with database.read() as session:
            columns = session.fetch_arrow("SELECT * FROM mine").column_names
        assert columns[:2] == ["corpus", "corpus_id"]


@pytest.mark.in_turn
def test_comments_are_renewed(stored_url: str, monkeypatch: pytest.MonkeyPatch, fresh: Database) -> None:
    monkeypatch.setattr(upgrading, "read_version", find_version)
    with connect(stored_url) as stored:
        with stored.begin() as session:
            for named in ("TABLE papers", "COLUMN papers.title", "VIEW citation_links"):
                session.execute_as_written(f"COMMENT ON {named} IS 'of old'")
            session.execute("UPDATE schema_version SET version = :old", {"old": SCHEMA_VERSION - 1})
        upgrade(stored, [Step(SCHEMA_VERSION, "0000-comments", "So.", ())])
    with connect(stored_url) as stored:  # DuckDB puts fewer brackets into views that it has read from a file
        check_same(stored, fresh)
