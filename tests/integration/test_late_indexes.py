"""The end of a load into Postgres: indexes that cost most row by row are built, rows tidied and counted."""

import gzip
from pathlib import Path
from typing import Any

import orjson
import pytest

from pinakes.database import Database
from pinakes.errors import LoadError
from pinakes.export.corpora import take as take_module
from pinakes.export.corpora.write import export_corpora
from pinakes.load import load as load_module
from pinakes.load.load import LoadRequest, load
from pinakes.load.summary import summarise_load

LATE = {"citations_reference_index", "cited_references_paper_index"}
INDEXES = "SELECT indexname FROM pg_indexes WHERE schemaname = CURRENT_SCHEMA()"


def _list_late(database: Database) -> set[str]:
    with database.read() as session:
        return LATE & {row["indexname"] for row in session.rows(INDEXES)}


def _write(path: Path, first: int, papers: int = 20) -> Path:
    records: list[dict[str, Any]] = [
        {"paper_id": str(number), "title": f"Title {number}", "outbound_citations": [str(number - 1)]}
        for number in range(first, first + papers)
    ]
    path.write_bytes(gzip.compress(b"".join(orjson.dumps(record) + b"\n" for record in records), mtime=0))
    return path


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """The indexes that are there, as another session sees them, before each file."""
    found: list[set[str]] = []
    load_file = load_module._load_file

    def note(task: Any, *arguments: Any) -> Any:
        found.append(_list_late(task.database))
        return load_file(task, *arguments)

    monkeypatch.setattr(load_module, "_load_file", note)
    return found


def test_a_first_load_builds_indexes_when_its_rows_are_in(
    postgres_database: Database, tmp_path: Path, seen: list[set[str]]
) -> None:
    load(postgres_database, LoadRequest("s2orc", _write(tmp_path / "a.jsonl.gz", 1), corpus="a"))
    assert seen == [set()]
    assert _list_late(postgres_database) == LATE
    load(postgres_database, LoadRequest("s2orc", _write(tmp_path / "b.jsonl.gz", 1), corpus="b"))
    assert seen == [set(), LATE]


def test_no_room_is_left_for_later_updates_when_the_load_is_done(
    postgres_database: Database, tmp_path: Path
) -> None:
    load(postgres_database, LoadRequest("s2orc", _write(tmp_path / "a.jsonl.gz", 1), corpus="a"))
    options = "SELECT reloptions FROM pg_class WHERE oid = to_regclass('cited_references')"
    with postgres_database.read() as session:
        assert session.scalar(options) is None


def test_a_load_that_breaks_off_builds_them(
    postgres_database: Database, tmp_path: Path, seen: list[set[str]]
) -> None:
    file = _write(tmp_path / "a.jsonl.gz", 1, papers=2_000)
    file.write_bytes(file.read_bytes()[:-400])
    with pytest.raises(LoadError):
        load(postgres_database, LoadRequest("s2orc", file))
    assert seen == [set()]
    assert _list_late(postgres_database) == LATE


def test_the_load_after_a_killed_one_builds_them(
    postgres_database: Database, tmp_path: Path, seen: list[set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "release"
    folder.mkdir()
    _write(folder / "a.jsonl.gz", 1)
    _write(folder / "b.jsonl.gz", 101)

    def kill(*_arguments: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(load_module, "check_archives", kill)
        with pytest.raises(KeyboardInterrupt):
            load(postgres_database, LoadRequest("s2orc", folder))
    assert _list_late(postgres_database) == set()
    load(postgres_database, LoadRequest("s2orc", folder))
    assert seen == [set()] * 4
    assert _list_late(postgres_database) == LATE


def test_a_load_keeps_them_where_someone_reads_the_table(
    postgres_database: Database, tmp_path: Path, seen: list[set[str]]
) -> None:
    with postgres_database.read() as reader:
        assert reader.scalar("SELECT COUNT(*) FROM citations") == 0
        load(postgres_database, LoadRequest("s2orc", _write(tmp_path / "a.jsonl.gz", 1)))
    assert seen == [{"citations_reference_index"}]
    assert _list_late(postgres_database) == LATE


def test_an_import_builds_them_too_and_leaves_no_room_for_updates(
    postgres_database: Database, initialised_duckdb: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(initialised_duckdb, LoadRequest("s2orc", _write(tmp_path / "a.jsonl.gz", 1), corpus="a"))
    export_corpora(initialised_duckdb, tmp_path / "out")
    options = "SELECT reloptions FROM pg_class WHERE oid = to_regclass('cited_references')"
    seen = []

    def note(*arguments: Any) -> None:
        with postgres_database.read() as session:
            seen.append((_list_late(postgres_database), session.scalar(options)))
        take_corpus(*arguments)

    take_corpus = take_module._take
    monkeypatch.setattr(take_module, "_take", note)
    take_module.import_corpora(postgres_database, tmp_path / "out")
    assert seen == [(set(), None)]
    assert _list_late(postgres_database) == LATE


def test_a_rehearsal_leaves_them_as_they_are(
    postgres_database: Database, tmp_path: Path, seen: list[set[str]]
) -> None:
    load(postgres_database, LoadRequest("s2orc", _write(tmp_path / "a.jsonl.gz", 1), dry_run=True))
    assert seen == [LATE]
    assert _list_late(postgres_database) == LATE


def test_postgres_plans_with_the_rows_that_a_load_brought(
    postgres_database: Database, tmp_path: Path
) -> None:
    file = _write(tmp_path / "a.jsonl.gz", 1, papers=1_500)
    load(postgres_database, LoadRequest("s2orc", file, corpus="a"))
    counted = "SELECT reltuples FROM pg_class WHERE relname IN ('papers', 'citations')"
    with postgres_database.read() as session:
        assert [row["reltuples"] for row in session.rows(counted)] == [1_500.0, 1_500.0]


def test_after_a_load_an_index_serves_without_its_table(postgres_database: Database, tmp_path: Path) -> None:
    file = _write(tmp_path / "a.jsonl.gz", 1, papers=1_500)
    load(postgres_database, LoadRequest("s2orc", file, corpus="a"))
    seen = "SELECT relallvisible > 0 AS is_seen FROM pg_class WHERE relname IN ('papers', 'citations')"
    with postgres_database.read() as session:
        assert [row["is_seen"] for row in session.rows(seen)] == [True, True]


def test_many_rows_are_tidied_before_they_are_counted(
    postgres_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index alone serves for pages that VACUUM has seen; of 19M other mentions the count took 37 s."""
    tidied: list[bool] = []
    seen_by_vacuum = "SELECT relallvisible > 0 FROM pg_class WHERE oid = to_regclass('citations')"

    def note(database: Database, *arguments: Any) -> Any:
        with database.read() as session:
            tidied.append(session.scalar(seen_by_vacuum))
        return summarise_load(database, *arguments)

    monkeypatch.setattr(load_module, "summarise_load", note)
    file = _write(tmp_path / "a.jsonl.gz", 1, papers=load_module.MANY_RECORDS)
    load(postgres_database, LoadRequest("s2orc", file, options={"citations": "outbound"}))
    assert tidied == [True]
