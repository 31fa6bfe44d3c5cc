"""A full disk, a damaged file, a server that goes away: what a command says, and that nothing is lost."""

import os
import resource
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import numpy as np
import pytest
import sqlalchemy as sa

from pinakes.database import Database, connect
from pinakes.errors import DatabaseError, IndexingError
from pinakes.indexers.bm25 import Bm25Index, build_bm25
from pinakes.indexers.encoder.model import load_encoder
from pinakes.indexers.encoder.presets import resolve_model
from pinakes.indexers.faiss.build import build_faiss
from pinakes.schema import corpora
from pinakes.vectors import remembered
from tests.calling import Call, Outcome, make_call
from tests.toy_encoder import build_toy_encoder

pytestmark = pytest.mark.in_turn


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """As on a full disk: what writes more to a file of this process is refused."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    writes_none, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # modules' bytecode would be cut off
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        sys.dont_write_bytecode = writes_none
        signal.signal(signal.SIGXFSZ, handler)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """The command line in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return make_call(capsys)


@pytest.fixture
def corpus(prepared_duckdb_url: str, monkeypatch: pytest.MonkeyPatch, here: Call) -> Call:
    """The command line over a DuckDB file with corpora."""
    monkeypatch.setenv("PINAKES_DATABASE_URL", prepared_duckdb_url)
    return here


def check_told(outcome: Outcome, *said: str) -> None:
    assert outcome.code == 1, outcome
    assert "Traceback" not in outcome.err
    assert "defect" not in outcome.err
    for words in said:
        assert words in outcome.err, outcome.err


def test_a_load_into_a_database_that_cannot_grow_is_told_and_goes_on_later(corpus: Call) -> None:
    words = ("load", "synthetic", "--papers", 1500, "--seed", 2, "--corpus", "more", "-q")
    with no_file_larger_than(1_000_000):
        outcome = corpus(*words)
    check_told(outcome, "the database file would be larger than", "What was committed before stays in.")
    assert corpus(*words).code == 0
    assert corpus("status", "--check").code == 0
    counted = corpus(
        "sql", "SELECT COUNT(*) AS n FROM papers JOIN corpora USING (corpus_id) WHERE name = 'more'"
    )
    assert "1500" in counted.out


@pytest.mark.parametrize("system", ["bm25", "tfidf", "sparse_bm25"])
def test_an_index_that_cannot_be_written_is_told_and_leaves_the_old_one(
    corpus: Call, system: str, tmp_path: Path
) -> None:
    folder = tmp_path / "work.duckdb.indexes"
    for limit in (100, 3_000):
        with no_file_larger_than(limit):
            outcome = corpus("index", "synthetic", "-s", system, "-q")
        check_told(outcome, "cannot be written; one that is there stays: ", "or choose another place (--db")
        found = [path for path in folder.rglob("*") if path.is_file()]
        assert [path for path in found if path.parent.name != remembered.FOLDER] == []
    assert corpus("index", "synthetic", "-s", system, "-q").code == 0


def test_an_index_folder_that_cannot_be_made_is_told(
    corpus: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("PINAKES_INDEX_FOLDER", str(tmp_path / "file" / "indexes"))
    outcome = corpus("index", "synthetic", "-s", "bm25", "-q")
    check_told(outcome, "no index can be kept in", "a part of the path is no folder. Choose another path.")
    assert "start the same command" not in outcome.err


def test_a_faiss_index_that_is_cut_off_by_a_full_disk_is_none(tmp_path: Path) -> None:
    vectors = np.eye(8, dtype=np.float32)
    blocks = [(np.arange(8, dtype=np.int64), vectors)]
    # 256 bytes of vectors and 192 of ids go through, the index does not: Faiss itself is silent
    with no_file_larger_than(260), pytest.raises(IndexingError, match=r"cannot be written.*larger than"):
        build_faiss(tmp_path / "index", iter(blocks), "flat")
    assert list(tmp_path.iterdir()) == []
    assert build_faiss(tmp_path / "index", iter(blocks), "flat").row_count == 8


def test_a_bm25_index_is_searched_where_no_lock_can_be_made(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    build_bm25(folder, iter([(1, {"text": "citation graphs"}), (2, {"text": "papers"})]))
    for lock in folder.glob(".*.lock"):
        lock.unlink()
        lock.mkdir()  # no user, not even root, opens a folder as the lock file that tantivy wants
    index = Bm25Index.open(folder)
    assert index.search("graphs", 5).paper_ids.tolist() == [1]
    assert index.score_pool("papers", np.array([1, 2])).tolist()[0] == 0


def test_every_user_who_may_read_a_folder_may_read_an_index_in_it(tmp_path: Path) -> None:
    build_bm25(tmp_path / "index", iter([(1, {"text": "citation graphs"})]))
    modes = {path.stat().st_mode for path in (tmp_path / "index").iterdir() if path.suffix != ".lock"}
    assert len(modes) == 1


def test_a_truncated_file_of_weights_is_told(tmp_path: Path) -> None:
    weights = build_toy_encoder(tmp_path / "toy") / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:2_000])
    with pytest.raises(IndexingError, match="cannot be loaded"):
        load_encoder(resolve_model(str(tmp_path / "toy")))


DAMAGED = (
    ("status",),
    ("sql", "SELECT COUNT(title), COUNT(abstract) FROM papers"),
    ("export", "papers", "out.csv"),
    ("search", "synthetic", "graphs"),
    ("index", "synthetic", "-s", "bm25"),
    ("load", "synthetic", "--papers", 200, "--corpus", "other"),
    ("init",),
)


@pytest.mark.parametrize("words", DAMAGED, ids=lambda words: words[0])
def test_a_damaged_database_file_is_told(words: tuple[object, ...], corpus: Call, tmp_path: Path) -> None:
    file = tmp_path / "work.duckdb"
    content = bytearray(file.read_bytes())
    for place in range(3 * 4096, len(content), 8192):  # behind the headers, in every block
        content[place] ^= 0xFF
    file.write_bytes(content)
    check_told(corpus(*words), "the database file is damaged (", "Go back to a backup")
    assert bytes(content) == file.read_bytes()


def test_a_database_that_was_cut_off_is_told(corpus: Call, tmp_path: Path) -> None:
    os.truncate(tmp_path / "work.duckdb", 3_000_000)
    check_told(corpus("status"), "the database file is damaged (")


@pytest.mark.parametrize("address", ["duckdb:///:memory:", "duckdb://", "duckdb:///:memory:named"])
def test_a_database_in_memory_is_none_for_a_command(address: str, here: Call) -> None:
    for words in (
        ("status",),
        ("init",),
        ("sql", "SELECT 1"),
        ("load", "synthetic"),
        ("run", "x", "-s", "bm25"),
    ):
        check_told(
            here(*words, "--db", address), "in memory is empty when a command begins", "pinakes.duckdb"
        )


FOREIGN = (
    "CREATE TABLE papers (a INTEGER)",
    "CREATE VIEW citation_links AS SELECT 1 AS a",
    "CREATE TABLE schema_version (installed INTEGER, version VARCHAR(9))",
    "CREATE TABLE schema_version (version VARCHAR(9))",
)


@pytest.mark.parametrize("made", FOREIGN)
def test_a_table_of_another_program_is_told_and_left_as_it_is(
    made: str, database_url: str, here: Call
) -> None:
    with connect(database_url) as database, database.begin() as session:
        session.execute(made)
    for words in (("init",), ("load", "synthetic", "--papers", 150)):
        check_told(
            here(*words, "--db", database_url), made.split()[2], "that Pinakes did not make", "Nothing was"
        )
    with connect(database_url) as database, database.read() as session:
        tables = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = CURRENT_SCHEMA()"
        assert session.scalar(tables) == 1


def change_and_lose(database: Database, other: Database) -> None:
    with database.begin() as session:
        session.execute(sa.update(corpora).values(title="lost"))
        own = session.scalar("SELECT pg_backend_pid()")
        with other.read() as another:
            another.execute("SELECT pg_terminate_backend(:pid)", {"pid": own})
        session.rows("SELECT 1 AS a")


def test_a_postgres_that_goes_away_is_told(prepared_postgres_url: str) -> None:
    with connect(prepared_postgres_url) as database, connect(prepared_postgres_url) as other:
        with pytest.raises(DatabaseError, match="Postgres went away") as told:
            change_and_lose(database, other)
        assert "Once it runs again, start the same command again" in str(told.value)
        with other.read() as session:
            assert session.scalar("SELECT COUNT(*) FROM corpora WHERE title = 'lost'") == 0


def test_a_postgres_that_may_only_be_read_is_told(prepared_postgres_url: str, here: Call) -> None:
    with connect(prepared_postgres_url) as database, database.begin() as session:
        name = session.scalar("SELECT CURRENT_DATABASE()")
        session.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
    for words in (("resolve", "synthetic"), ("load", "synthetic", "--papers", 150, "--corpus", "x", "-q")):
        check_told(here(*words, "--db", prepared_postgres_url), "this Postgres cannot be written to")


def test_a_right_that_a_postgres_user_lacks_is_told(prepared_postgres_url: str, here: Call) -> None:
    role = f"reader_{os.getpid()}"
    with connect(prepared_postgres_url) as database:
        with database.begin() as session:
            session.execute(f"CREATE ROLE {role} LOGIN")
        try:
            url = sa.make_url(prepared_postgres_url).set(username=role).render_as_string(hide_password=False)
            told = here("status", "--db", url)
            check_told(told, "this Postgres user may not do that (permission denied")
        finally:
            with database.begin() as session:
                session.execute(f"DROP ROLE {role}")


def test_a_statement_that_takes_too_long_for_postgres_is_told(prepared_postgres_url: str, here: Call) -> None:
    with connect(prepared_postgres_url) as database, database.begin() as session:
        name = session.scalar("SELECT CURRENT_DATABASE()")
        session.execute(f'ALTER DATABASE "{name}" SET statement_timeout = 1')
    check_told(here("index", "synthetic", "-s", "bm25", "--db", prepared_postgres_url), "Postgres stopped it")


def test_a_copy_of_a_damaged_file_is_not_opened_as_another(tmp_path: Path, here: Call) -> None:
    duckdb.connect(str(tmp_path / "whole.duckdb")).close()
    shutil.copy(tmp_path / "whole.duckdb", tmp_path / "copy.duckdb")
    (tmp_path / "copy.duckdb").write_bytes(b"\0" * 20_000)
    check_told(here("status", "--db", "copy.duckdb"), "is not a valid DuckDB database file")
