"""What a command holds in memory: DuckDB's limit, its temporary folder, staged rows, a resolution."""

import os
from contextlib import AbstractContextManager
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
import sqlalchemy as sa

from pinakes.cli import run_command
from pinakes.database import Database, Session, connect, connect_read_only
from pinakes.database.driver_errors import explain
from pinakes.errors import DatabaseError
from pinakes.load import resolve
from pinakes.load.corrections import Corrections
from pinakes.load.load import LoadRequest, load
from pinakes.loaders import staging
from pinakes.schema import create_schema

SORT = "SELECT MAX(place) FROM (SELECT ROW_NUMBER() OVER (ORDER BY HASH(range)) AS place FROM RANGE(2000000))"


def list_temporary(path: Path) -> list[str]:
    return sorted(found.name for found in path.parent.glob("*.tmp"))


def read_limit(database: Database) -> str:
    with database.read() as session:
        return str(session.scalar("SELECT current_setting('memory_limit')"))


def test_duckdb_has_its_part_of_the_memory_and_a_folder_beside_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    for opened, folder in ((connect, f"{path}.{os.getpid()}.tmp"), (connect_read_only, f"{path}.tmp")):
        with opened(path, memory=2_500_000_000) as database, database.read() as session:
            assert session.scalar("SELECT current_setting('memory_limit')") == "794.7 MiB"
            assert session.scalar("SELECT current_setting('temp_directory')") == folder


def test_the_setting_is_that_of_every_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINAKES_MEMORY", "5GB")
    with connect(tmp_path / "a.duckdb") as database:
        assert read_limit(database) == "1.5 GiB"


def test_what_does_not_fit_goes_to_the_folder_which_is_gone_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    with connect(path) as database:
        before = read_limit(database)
        with database.limit_memory(60_000_000):
            assert read_limit(database) == "57.2 MiB"
            with database.read() as session:
                session.execute("SET threads = 1")
                assert session.scalar(SORT) == 2_000_000
                assert list_temporary(path) == [f"a.duckdb.{os.getpid()}.tmp"]
        assert read_limit(database) == before
    assert list_temporary(path) == []


def test_folders_of_killed_processes_are_taken_away_by_the_next_that_writes(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    left = tmp_path / "a.duckdb.999999999.tmp"
    other = tmp_path / "b.duckdb.999999999.tmp"
    for folder in (left, other):
        folder.mkdir()
        (folder / "duckdb_temp_storage-0.tmp").write_bytes(b"x")
    connect(path).close()
    assert list_temporary(path) == [other.name]


def test_a_load_holds_duckdb_to_its_own_part_and_gives_it_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    with connect(tmp_path / "a.duckdb", memory=6_000_000_000) as database:
        create_schema(database)
        before = read_limit(database)

        def look(opened: Database, *_: object) -> Corrections:
            seen.append(read_limit(opened))
            return Corrections()

        monkeypatch.setattr("pinakes.load.load.correct_rows", look)
        load(database, LoadRequest("synthetic", options={"papers": "200", "seed": "1"}))
        assert seen == ["635.7 MiB"]
        assert read_limit(database) == before != seen[0]


def test_staged_rows_are_let_go_before_the_transaction_ends(database: Database) -> None:
    with database.begin() as session:
        before = pa.total_allocated_bytes()
        for _ in range(3):
            rows = pa.table({"number": pa.array(range(200_000), pa.int64())})
            with session.staged({"staged_numbers": rows}):
                assert session.scalar("SELECT SUM(number) FROM staged_numbers") == 19999900000
            del rows
            assert pa.total_allocated_bytes() - before < 800_000


def test_two_names_are_staged_beside_each_other_and_one_twice(database: Database) -> None:
    one, two = (pa.table({"number": pa.array([value], pa.int64())}) for value in (1, 2))
    with database.begin() as session:
        with session.staged({"staged_one": one, "staged_two": two}):
            query = "SELECT a.number + b.number + c.number FROM staged_one a, staged_two b, staged_one c"
            assert session.scalar(query) == 4
        with session.staged({"staged_one": two}):
            assert session.scalar("SELECT number FROM staged_one") == 2


def test_a_transaction_ends_with_its_bytes(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "TRANSACTION_BYTES", 1)
    began = []
    begin = database.begin

    def count() -> AbstractContextManager[Session]:
        began.append(1)
        return begin()

    monkeypatch.setattr(database, "begin", count)
    load(database, LoadRequest("synthetic", options={"papers": "200", "seed": "1"}))
    with database.read() as session:
        assert len(began) >= int(session.scalar("SELECT COUNT(*) FROM load_batches"))


def test_resolving_in_parts_gives_what_resolving_at_once_gives(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(database, LoadRequest("synthetic", options={"papers": "300", "seed": "1"}, corpus="toy"))
    query = "SELECT reference_id, paper_id, resolved_by FROM cited_references ORDER BY reference_id"
    with database.begin() as session:
        expected = session.rows(query)
        assert len(expected) > 50
        cleared = session.execute("UPDATE cited_references SET paper_id = NULL, resolved_by = NULL")
    monkeypatch.setattr(resolve, "PART_REFERENCES", 7)
    assert resolve.resolve(database, "toy").by_source_id == cleared
    with database.read() as session:
        assert session.rows(query) == expected


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("Out of Memory Error: could not allocate block of size 256.0 KiB (1/1 used)", "--memory"),
        ("Failed to commit: failed to pin block of size 256.0 KiB", "--memory"),
        ("IO Error: Could not write file: No space left on device", "disk of the database is full"),
        (
            "Out of Memory Error: failed to offload data block of size 1 KiB (limit max_temp_directory_size)",
            "disk of the database is full",
        ),
    ],
)
def test_too_little_memory_and_a_full_disk_are_told_in_words(message: str, words: str) -> None:
    told = explain(duckdb.Error(message))
    assert isinstance(told, DatabaseError)
    assert words in str(told)


def test_a_query_that_cannot_spill_says_which_setting_helps(tmp_path: Path) -> None:
    with (
        connect(tmp_path / "a.duckdb") as database,
        database.limit_memory(20_000_000),
        pytest.raises(DatabaseError, match="--memory"),
        database.read() as session,
    ):
        session.scalar("SELECT LEN(LIST(range)) FROM RANGE(20000000)")


def test_a_wrong_option_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["status", "--db", str(tmp_path / "a.duckdb"), "--memory", "lots"]) == 1
    assert "PINAKES_MEMORY, is 'lots'; expected a size, as 2GB" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "raised"),
    [({}, "41666kB"), ({"options": "-c work_mem=5MB"}, "5MB"), ({}, "64MB")],
    ids=["raised", "said by the user", "more already"],
)
def test_a_sample_sorts_on_postgres_in_an_eighth_of_the_memory(
    postgres_url: str, given: dict[str, str], raised: str
) -> None:
    url = sa.make_url(postgres_url).update_query_dict(given)
    with connect(url, memory=1_024_000_000) as database:
        with database.begin() as session:
            before = session.scalar("SHOW work_mem")
            if raised == "64MB":
                session.execute("SET LOCAL work_mem = '64MB'")
            session.raise_memory()
            assert session.scalar("SHOW work_mem") == raised
        with database.read() as session:
            assert session.scalar("SHOW work_mem") == before
