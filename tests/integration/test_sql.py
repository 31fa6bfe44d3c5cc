"""A user's own questions: everything can be asked, nothing can be changed."""

from pathlib import Path
from typing import Any

import pytest

from pinakes.database import Database, connect, connect_read_only
from pinakes.database.read_only import ask, ask_arrow
from pinakes.errors import DatabaseError, InputError
from tests.benching import count


def question(database: Database, text: str) -> list[tuple[Any, ...]]:
    with ask(database, text) as result:
        return list(result.rows)


def test_a_question_is_taken_word_for_word(read_only: Database) -> None:
    text = "SELECT source_id, 'a:b :c %s %' AS odd FROM papers WHERE source_id LIKE 'p%' ORDER BY source_id"
    with ask(read_only, text) as result:
        assert result.columns == ["source_id", "odd"]
        assert [tuple(row) for row in result.rows] == [
            (source_id, "a:b :c %s %") for source_id in ("p1", "p10", "p2", "p3")
        ]
    assert question(read_only, "SELECT COUNT(*) FROM csfcube.candidates") == [(18,)]
    assert question(read_only, "SELECT 1 WHERE FALSE") == []


def test_what_is_left_unread_ends_with_its_session(read_only: Database) -> None:
    with ask(read_only, "SELECT number FROM generate_series(1, 30000000) AS numbers (number)") as result:
        assert next(result.rows) == (1,)
    assert question(read_only, "SELECT 1") == [(1,)]


def test_postgres_may_answer_with_parallel_workers(prepared_postgres_url: str) -> None:
    text = "SELECT name FROM pg_cursors"  # of a query within a cursor Postgres makes no parallel plan
    with connect_read_only(prepared_postgres_url) as database:
        assert question(database, text) == [("",)]
        with ask_arrow(database, text) as result:
            assert [part.to_pydict() for part in result.parts] == [{"name": [""]}]


CHANGES = [
    "INSERT INTO corpora VALUES (99, 'x', 'x', 'x', 'x', 'x')",
    "UPDATE papers SET title = 'x'",
    "DELETE FROM papers",
    "DROP TABLE papers",
    "CREATE TABLE mine AS SELECT 1 AS one",
    "SELECT 1; DROP TABLE papers",
    "SELECT 1; DELETE FROM papers",
    "COMMIT; CREATE TABLE mine (one INT)",
    "ROLLBACK; CREATE TABLE mine (one INT)",
    "BEGIN READ WRITE; CREATE TABLE mine (one INT); COMMIT",
    "WITH gone AS (DELETE FROM papers RETURNING paper_id) SELECT * FROM gone",
]


@pytest.mark.parametrize("text", CHANGES)
def test_nothing_can_be_changed(read_only: Database, text: str) -> None:
    with pytest.raises(InputError, match=r"^(DuckDB|Postgres) refuses the query: "):
        question(read_only, text)
    assert count(read_only, "papers") == 313
    assert count(read_only, "information_schema.tables WHERE table_name = 'mine'") == 0


def test_no_file_is_read_or_written_and_no_program_started(
    prepared_duckdb_url: str, prepared_postgres_url: str, tmp_path: Path
) -> None:
    target = tmp_path / "out.csv"
    secret = tmp_path / "secret.csv"
    secret.write_text("one\n1\n")
    with connect_read_only(prepared_duckdb_url) as duck:
        for text in (
            f"COPY (SELECT 1) TO '{target}'",
            f"COPY papers TO '{target}'",
            f"SELECT * FROM '{secret}'",
            f"SELECT * FROM read_csv('{secret}')",
            f"ATTACH '{tmp_path / 'other.duckdb'}'",
            "SET enable_external_access = true",
            f"EXPORT DATABASE '{tmp_path / 'export'}'",
            "INSTALL httpfs",
        ):
            with pytest.raises(InputError, match="DuckDB refuses the query"):
                question(duck, text)
    with connect_read_only(prepared_postgres_url) as post:
        for text in (
            "COPY (SELECT 1) TO PROGRAM 'true'",
            f"COPY (SELECT 1) TO '{target}'",
            "SET TRANSACTION READ WRITE",
            "SELECT set_config('transaction_read_only', 'off', false)",
            "SELECT lo_create(0)",
        ):
            with pytest.raises(InputError, match=r"(Postgres|the database) refuses the query"):
                question(post, text)
    assert not target.exists()
    assert not (tmp_path / "other.duckdb").exists()
    assert not (tmp_path / "export").exists()


def test_a_question_that_fails_while_its_rows_come_is_the_users(read_only: Database) -> None:
    with pytest.raises(InputError, match="refuses the query"):
        question(read_only, "SELECT CAST(source_id AS INTEGER) FROM papers ORDER BY paper_id")


def test_text_without_a_query_is_refused(read_only: Database) -> None:
    for text in ("", ";", "SELEC 1", "-- only a comment"):
        with pytest.raises(InputError, match=r"refuses the query|holds no query"):
            question(read_only, text)


def test_a_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="there is no database file"):
        connect_read_only(f"duckdb:///{tmp_path / 'none.duckdb'}")
    assert list(tmp_path.iterdir()) == []


def test_readers_of_a_duckdb_file_do_not_wait_for_each_other(prepared_duckdb_url: str) -> None:
    with connect_read_only(prepared_duckdb_url) as one, connect_read_only(prepared_duckdb_url) as two:
        assert question(one, "SELECT 1") == question(two, "SELECT 1") == [(1,)]
    with connect(prepared_duckdb_url) as writer:
        assert count(writer, "papers") == 313


@pytest.mark.parametrize("begin", ["{", "{a", "{aa"])
def test_what_duckdb_quotes_cut_in_the_middle_of_a_character_is_told(
    prepared_duckdb_url: str, begin: str
) -> None:
    value = f"{begin}{chr(0x1F393) * 400}"
    with connect_read_only(prepared_duckdb_url) as duck:
        for text in (
            f"SELECT CAST('{value}' AS JSON)",
            f"SELECT CAST(t AS JSON) FROM (SELECT '{value}' AS t)",
        ):
            with pytest.raises(
                InputError, match=r"refuses the query: .*(Malformed JSON|ConversionException)"
            ):
                question(duck, text)
