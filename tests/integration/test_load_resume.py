"""A load that was stopped, killed or cut short ends, when started again, as if nothing had happened."""

import gzip
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import sqlalchemy as sa

from pinakes.database import Database, Session, connect
from pinakes.errors import LoadError
from pinakes.load import load as load_module
from pinakes.load.batches import plan_files
from pinakes.load.load import LoadRequest, load
from pinakes.loaders import staging
from pinakes.loaders.merge import merge_chunk
from pinakes.schema import create_schema, load_reports
from tests.loading import DATA, dump_tables, paper, write_beir

CHUNK_ROWS = 10

Tables = dict[str, list[tuple[Any, ...]]]

# Loads a folder in small chunks, and in the third merge says so and waits to be killed, uncommitted.
LOAD_AND_HANG = f"""
import sys, time
from pathlib import Path
from pinakes.database import connect
from pinakes.loaders import staging
from pinakes.load import load as module

staging.CHUNK_ROWS = staging.BULK_CHUNK_ROWS = {CHUNK_ROWS}
staging.TRANSACTION_ROWS = 1
merges = 0
merge_chunk = module.merge_chunk

def merge_and_hang(*arguments):
    global merges
    merges += 1
    counts = merge_chunk(*arguments)
    if merges == 3:
        print("merged", flush=True)
        time.sleep(60)
    return counts

module.merge_chunk = merge_and_hang
with connect(sys.argv[1]) as database:
    module.load(database, module.LoadRequest("beir", Path(sys.argv[2])))
"""


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "CHUNK_ROWS", CHUNK_ROWS)
    monkeypatch.setattr(staging, "BULK_CHUNK_ROWS", CHUNK_ROWS)
    monkeypatch.setattr(staging, "TRANSACTION_ROWS", 1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return _write_corpus(tmp_path / "corpus")


def _write_corpus(folder: Path) -> Path:
    papers: list[dict[str, object] | bytes] = [paper(number) for number in range(1, 46)]
    papers[13:13] = [b"no JSON", paper(1), b"", paper(2)]
    papers.append(paper(40))
    qrels = "".join(f"q{number % 3 + 1}\tp{number}\t{number % 2}\n" for number in range(1, 50))
    return write_beir(folder, papers, qrels + "q1\tp3\t0\n", queries=3)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """All tables after an uninterrupted load."""
    folder = _write_corpus(tmp_path_factory.mktemp("expected") / "corpus")
    with connect("duckdb:///:memory:") as database, pytest.MonkeyPatch.context() as patched:
        patched.setattr(staging, "CHUNK_ROWS", CHUNK_ROWS)
        patched.setattr(staging, "BULK_CHUNK_ROWS", CHUNK_ROWS)
        patched.setattr(staging, "TRANSACTION_ROWS", 1)
        create_schema(database)
        summary = load(database, LoadRequest("beir", folder))
        assert [(f.rows_in, f.rows_rejected) for f in summary.files] == [(49, 4), (3, 0), (50, 5)]
        return dump_tables(database)


def test_a_killed_process_leaves_whole_chunks_and_the_next_load_completes_them(
    database_url: str, folder: Path, expected: Tables
) -> None:
    with connect(database_url) as database:
        create_schema(database)
    command = [sys.executable, "-c", LOAD_AND_HANG, database_url, str(folder)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "merged\n"
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    with connect(database_url) as database:
        with database.read() as session:
            assert session.scalar("SELECT COUNT(*) FROM load_batches") == 2
            assert session.scalar("SELECT COUNT(*) FROM papers") == 16
        summary = load(database, LoadRequest("beir", folder))
        assert [f.rows_in for f in summary.files] == [30, 3, 50]
        assert dump_tables(database) == expected


@pytest.mark.in_turn
@pytest.mark.parametrize("chunks", [0, 1, 5, 9])
def test_a_load_that_fails_anywhere_goes_on_where_it_stopped(
    database: Database,
    folder: Path,
    expected: Tables,
    monkeypatch: pytest.MonkeyPatch,
    chunks: int,
) -> None:
    merged: Iterator[int] = iter(range(chunks))

    def fail_after(*arguments: object) -> object:
        if next(merged, None) is None:
            raise KeyboardInterrupt
        return merge_chunk(*arguments)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(load_module, "merge_chunk", fail_after)
        with pytest.raises(KeyboardInterrupt):
            load(database, LoadRequest("beir", folder))
    with database.read() as session:
        assert session.scalar("SELECT COUNT(*) FROM load_batches") == chunks
    load(database, LoadRequest("beir", folder))
    assert dump_tables(database) == expected


def test_a_chunk_is_in_whole_or_not_at_all(
    database: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(load_module, "build_rejected", fail)  # comes after the merge, before the commit
        with pytest.raises(KeyboardInterrupt):
            load(database, LoadRequest("beir", folder))
    assert dump_tables(database).keys() == {"schema_version", "corpora"}


def test_a_file_cut_short_raises_and_the_whole_file_then_gives_the_same_content(
    database: Database, folder: Path, expected: Tables
) -> None:
    # Uncompressed blocks: half of the bytes is half of the lines.
    whole = gzip.compress((folder / "corpus.jsonl").read_bytes(), compresslevel=0, mtime=0)
    (folder / "corpus.jsonl").unlink()
    (folder / "corpus.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(LoadError, match=r"corpus\.jsonl\.gz is damaged or cut short: .* after line 2\d"):
        load(database, LoadRequest("beir", folder))
    with database.read() as session:
        assert session.scalar("SELECT COUNT(*) FROM papers") == 22
        assert session.rows("SELECT is_last FROM load_batches") == [{"is_last": False}] * 3
    (folder / "corpus.jsonl.gz").write_bytes(whole)
    summary = load(database, LoadRequest("beir", folder))
    assert [(f.rows_in, f.rows_unchanged) for f in summary.files] == [(49, 22), (3, 0), (50, 0)]
    for table in ("papers", "benchmark_queries", "judgments"):
        found = [row[:-1] for row in dump_tables(database)[table]]
        assert found == [row[:-1] for row in expected[table]]


def test_a_file_cut_short_leaves_what_was_in(database: Database, folder: Path) -> None:
    load(database, LoadRequest("beir", DATA / "beir", corpus="corpus"))
    before = dump_tables(database)
    (folder / "corpus.jsonl").unlink()
    (folder / "corpus.jsonl.gz").write_bytes(gzip.compress(b'{"_id": "d1"}\n')[:-12])
    with pytest.raises(LoadError, match="cut short"):
        load(database, LoadRequest("beir", folder))
    assert {name: rows for name, rows in dump_tables(database).items() if name != "corpora"} == {
        name: rows for name, rows in before.items() if name != "corpora"
    }


def test_two_loads_of_one_file_at_once_do_not_mix(
    database: Database,
    folder: Path,
    expected: Tables,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    find_batches = plan_files

    def find_then_be_overtaken(*arguments: object) -> object:
        found = find_batches(*arguments)  # type: ignore[arg-type]
        monkeypatch.setattr(load_module, "plan_files", find_batches)
        load(database, LoadRequest("beir", folder))
        return found

    monkeypatch.setattr(load_module, "plan_files", find_then_be_overtaken)
    with pytest.raises(LoadError, match=r"another process is loading corpus\.jsonl into this corpus"):
        load(database, LoadRequest("beir", folder))
    assert dump_tables(database) == expected


def test_files_that_are_in_are_looked_up_together(
    duckdb_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    rows = Session.rows

    def note(session: Session, statement: Any, *given: Any) -> Any:
        asked.append(statement)
        return rows(session, statement, *given)

    monkeypatch.setattr(Session, "rows", note)
    counts = []
    for files in (1, 4):
        folder = tmp_path / str(files) / "metadata"
        folder.mkdir(parents=True)
        for number in range(files):
            record = orjson.dumps({"paper_id": str(number), "title": f"Paper {number}"})
            (folder / f"metadata_{number}.jsonl.gz").write_bytes(gzip.compress(record + b"\n", mtime=0))
        request = LoadRequest("s2orc", folder.parent, corpus=f"of {files}")
        first = load(duckdb_database, request)
        asked.clear()
        again = load(duckdb_database, request)
        assert (first.rows_in, again.rows_in, again.files_read) == (files, 0, files)
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_what_stands_twice_in_a_source_is_counted_once(database: Database, tmp_path: Path) -> None:
    record = orjson.dumps({"paper_id": "1", "title": "One", "unheard_of": [1]})
    packed = gzip.compress(record + b"\nno JSON\n", mtime=0)
    (tmp_path / "metadata").mkdir()
    for name in ("metadata_0", "metadata_1"):
        (tmp_path / "metadata" / f"{name}.jsonl.gz").write_bytes(packed)
    summary = load(database, LoadRequest("s2orc", tmp_path))
    with database.read() as session:
        stored = {row["measure"]: row["row_count"] for row in session.rows(sa.select(load_reports))}
    assert (stored["rows_in"], stored["rows_loaded"], stored["rows_rejected"]) == (2, 1, 1)
    assert stored["rejected.not_json"] == summary.reasons["not_json"] == 1
    assert {row["kind"]: row["items"] for row in summary.left_out}["field unheard_of"] == 1
