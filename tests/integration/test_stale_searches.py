"""A search never answers from an index of other texts, however it remembers that it was of today's."""

import os
from contextlib import suppress
from pathlib import Path

import duckdb
import pytest

from pinakes.database import Database, connect, connect_to_look
from pinakes.errors import RunError
from pinakes.index.index import index_corpus
from pinakes.load.load import LoadRequest, load
from pinakes.search.search import SearchRequest, search
from pinakes.systems import lexical
from pinakes.systems.base import SystemOptions
from pinakes.vectors.remembered import FOLDER, remember
from tests.benching import change
from tests.loading import paper, write_beir

CHANGES = {
    "a corrected abstract": "UPDATE papers SET abstract = 'corrected' WHERE source_id = 'p2'",
    "a corrected title": "UPDATE papers SET title = 'corrected' WHERE source_id = 'p1'",
    "a title that goes": "UPDATE papers SET title = NULL WHERE source_id = 'p1'",
    "texts that change places": "UPDATE papers SET abstract = CASE source_id WHEN 'p1' THEN 'graph models' "
    "ELSE 'citation graph retrieval' END WHERE source_id IN ('p1', 'p2')",
    "a paper of another corpus": "UPDATE papers SET corpus_id = (SELECT corpus_id FROM corpora "
    "WHERE name = 'csfcube') WHERE source_id = 'p10'",
}


@pytest.fixture
def indexed(prepared_url: str, tmp_path: Path) -> str:
    """The URL of a database whose corpus scifact has an index that was searched before."""
    with connect(prepared_url) as database:
        index_corpus(database, "scifact", "bm25", options=SystemOptions(tmp_path / "indexes"))
    assert look(prepared_url, tmp_path) == look(prepared_url, tmp_path) == ["p2", "p10", "p1"]
    return prepared_url


def ask(database: Database, tmp_path: Path) -> list[str]:
    request = SearchRequest("scifact", "graph models", options=SystemOptions(tmp_path / "indexes"))
    return [found.source_id for found in search(database, request)]


def look(url: str, tmp_path: Path) -> list[str]:
    with connect_to_look(url) as database:
        return ask(database, tmp_path)


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_of_a_text_makes_the_index_stale(indexed: str, tmp_path: Path, what: str) -> None:
    with connect(indexed) as database:
        change(database, CHANGES[what])
        with pytest.raises(RunError, match="built from other texts or settings than those of today"):
            ask(database, tmp_path)
    for _ in range(2):
        with pytest.raises(RunError, match="built from other texts or settings than those of today"):
            look(indexed, tmp_path)


def test_a_loaded_correction_makes_the_index_stale_and_its_withdrawal_current(
    indexed: str, tmp_path: Path
) -> None:
    texts = {"as it was": "graph models", "other": "graph model"}
    for name, text in [("other", texts["other"]), ("as it was", texts["as it was"])]:
        papers = [
            paper(1, title="Graphs", text="citation graph retrieval"),
            paper(2, title="", text=text),
            paper(10, title="", text="graph models"),
            paper(3, title="", text=""),
        ]
        folder = write_beir(tmp_path / name, papers, "q1\tp1\t1\n", queries=1)
        with connect(indexed) as database:
            load(database, LoadRequest("beir", folder, corpus="scifact"))
        if name == "other":
            with pytest.raises(RunError, match="built from other texts"):
                look(indexed, tmp_path)
    assert look(indexed, tmp_path) == ["p2", "p10", "p1"]


def test_a_paper_more_or_less_makes_the_index_stale(indexed: str, tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "more", [paper(7, title="Seven", text="")], "q1\tp7\t1\n", queries=1)
    with connect(indexed) as database:
        load(database, LoadRequest("beir", folder, corpus="scifact"))
    with pytest.raises(RunError, match="built from other texts"):
        look(indexed, tmp_path)


def test_a_write_that_changes_no_text_leaves_the_index_current(indexed: str, tmp_path: Path) -> None:
    with connect(indexed) as database:
        change(database, "UPDATE papers SET year = 1999 WHERE source_id = 'p2'")
    assert look(indexed, tmp_path) == ["p2", "p10", "p1"]


def test_what_a_transaction_has_not_committed_is_never_remembered(indexed: str, tmp_path: Path) -> None:
    with connect(indexed) as database:
        with database.rehearse() as rehearsed:
            change(rehearsed, CHANGES["a corrected title"])
            with pytest.raises(RunError, match="built from other texts"):
                ask(rehearsed, tmp_path)
        assert ask(database, tmp_path) == ["p2", "p10", "p1"]
    assert look(indexed, tmp_path) == ["p2", "p10", "p1"]


def test_a_write_of_another_program_is_seen(prepared_duckdb_url: str, tmp_path: Path) -> None:
    file = Path(prepared_duckdb_url.removeprefix("duckdb:///"))
    with connect(prepared_duckdb_url) as database:
        index_corpus(database, "scifact", "bm25", options=SystemOptions(tmp_path / "indexes"))
    times = file.stat().st_atime_ns, file.stat().st_mtime_ns
    assert look(prepared_duckdb_url, tmp_path)
    with duckdb.connect(str(file)) as other:
        other.execute(CHANGES["a corrected title"])
    os.utime(file, ns=times)
    with pytest.raises(RunError, match="built from other texts"):
        look(prepared_duckdb_url, tmp_path)


def skip_beside_others(url: str) -> None:
    """Skip where others write to the server of the tests: each of their transactions changes its state."""
    if url.startswith("postgresql") and "PINAKES_TEST_POSTGRES" in os.environ:
        pytest.skip("others write to this server")


def test_texts_are_read_once_until_something_is_written(
    prepared_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_beside_others(prepared_url)
    with connect(prepared_url) as database:
        index_corpus(database, "scifact", "bm25", options=SystemOptions(tmp_path / "indexes"))
    look(prepared_url, tmp_path)
    read = lexical._digest_texts
    calls: list[str] = []

    def count(database: Database, corpus: str, template: str, seed: bytes) -> tuple[str, int]:
        calls.append(corpus)
        return read(database, corpus, template, seed)

    monkeypatch.setattr(lexical, "_digest_texts", count)
    for _ in range(3):
        look(prepared_url, tmp_path)
    assert calls == []
    with connect(prepared_url) as database:
        change(database, "UPDATE papers SET year = 1999 WHERE source_id = 'p2'")
    for _ in range(3):
        look(prepared_url, tmp_path)
    assert calls == ["scifact"]


def test_a_damaged_memory_is_forgotten(prepared_duckdb_url: str, tmp_path: Path) -> None:
    with connect_to_look(prepared_duckdb_url) as database:
        assert remember(database, tmp_path, {"asked": 1}, lambda: 1) == 1
        (file,) = (tmp_path / FOLDER).iterdir()
        for content in (b"", b"[]", b"{", b'{"state": 1}', b"\xff"):
            file.write_bytes(content)
            assert remember(database, tmp_path, {"asked": 1}, lambda: 2) == 2
        assert remember(database, tmp_path, {"asked": 1}, lambda: 3) == 2
        assert remember(database, tmp_path, {"asked": 2}, lambda: 3) == 3


def test_a_database_in_memory_remembers_nothing(tmp_path: Path) -> None:
    with connect("duckdb:///:memory:") as database:
        assert database.describe_state() is None
        assert remember(database, tmp_path, {}, lambda: 1) == 1
        assert remember(database, tmp_path, {}, lambda: 2) == 2
    assert not list(tmp_path.iterdir())


def test_the_state_is_that_of_what_is_committed(prepared_duckdb_url: str) -> None:
    with connect(prepared_duckdb_url) as database:
        states = [database.describe_state()]
        with database.begin() as session:
            session.execute("UPDATE papers SET year = 1 WHERE source_id = 'p1'")
            states.append(database.describe_state())
        states.append(database.describe_state())
        change(database, "UPDATE papers SET year = 2 WHERE source_id = 'p1'")
        states.append(database.describe_state())
    assert None not in states
    assert states[0] == states[1]
    assert len(set(states)) == 3


def test_postgres_shows_the_same_state_until_a_transaction_that_wrote_is_seen(
    prepared_postgres_url: str,
) -> None:
    skip_beside_others(prepared_postgres_url)
    with connect(prepared_postgres_url) as database, connect(prepared_postgres_url) as other:
        states = [database.describe_state()]
        with database.read() as session:  # what only reads changes nothing
            session.rows("SELECT count(*) FROM papers")
        assert [database.describe_state(), other.describe_state()] == states * 2
        with suppress(RuntimeError), other.begin() as session:
            session.execute("UPDATE papers SET year = 1 WHERE source_id = 'p1'")
            states.append(database.describe_state())
            raise RuntimeError
        states.append(database.describe_state())
        change(other, "UPDATE papers SET year = 1 WHERE source_id = 'p1'")
        states.append(database.describe_state())
    assert None not in states
    assert len({states[0], states[2], states[3]}) == 3


def test_nobody_elses_rows_are_remembered(prepared_postgres_url: str) -> None:
    with connect(prepared_postgres_url) as database:
        here = database.describe_state()
    elsewhere = (
        f"{prepared_postgres_url}{'&' if '?' in prepared_postgres_url else '?'}options=-csearch_path%3Dx"
    )
    with connect(elsewhere) as database:
        assert database.describe_state() != here
