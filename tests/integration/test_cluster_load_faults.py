"""Loads on a cluster of which parts end, or whose files change: the tables are those of one process."""

import gzip
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pinakes.cluster.loading import ReadTask, StagedFiles, look_at, stage_files
from pinakes.cluster.parts import list_parts, write_part
from pinakes.database import Database, connect
from pinakes.errors import LoadError
from pinakes.load.load import LoadRequest, load
from pinakes.load.shared import Reading, read_on_cluster
from pinakes.loaders import staging
from pinakes.loaders.reading.streams import digest_file
from pinakes.loaders.registry import find_loader
from pinakes.loaders.staging import Chunk
from pinakes.schema import create_schema
from tests.clusters import LocalCluster, killing, list_workers, wait_until
from tests.loading import dump_tables, paper, write_beir

CHUNK_ROWS = 20
PAPERS = 1_500
TOPIC = "graph citation " * 40
LOAD = f"""
import sys
from pathlib import Path
from pinakes.database import connect
from pinakes.loaders import staging
from pinakes.load.load import LoadRequest, load

staging.CHUNK_ROWS = staging.BULK_CHUNK_ROWS = {CHUNK_ROWS}
staging.TRANSACTION_ROWS = 100
url, folder, on = sys.argv[1:]
with connect(url) as database:
    load(database, LoadRequest("beir", Path(folder), on=on))
"""


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CHUNK_ROWS", "BULK_CHUNK_ROWS"):
        monkeypatch.setattr(staging, name, CHUNK_ROWS)
    monkeypatch.setattr(staging, "TRANSACTION_ROWS", 100)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Papers, of which some come twice or are no records, and judgments of papers that are not there."""
    papers: list[dict[str, Any] | bytes] = [paper(number, text=TOPIC) for number in range(PAPERS)]
    papers[700:700] = [b"no JSON", paper(3), b"", paper(699)]
    qrels = "".join(f"q{number % 30 + 1}\tp{7 * number}\t1\n" for number in range(300))
    folder = write_beir(tmp_path_factory.mktemp("corpus") / "corpus", papers, qrels, queries=30)
    lines = (folder / "corpus.jsonl").read_bytes().splitlines(keepends=True)
    assert len(lines) == PAPERS + 4
    return folder


@pytest.fixture(scope="module")
def expected(corpus: Path) -> dict[str, Any]:
    """All tables after a load by one process."""
    with connect("duckdb:///:memory:") as database, pytest.MonkeyPatch.context() as patched:
        for name in ("CHUNK_ROWS", "BULK_CHUNK_ROWS"):
            patched.setattr(staging, name, CHUNK_ROWS)
        create_schema(database)
        summary = load(database, LoadRequest("beir", corpus))
        assert summary.rows_rejected > 80
        return dump_tables(database)


@pytest.mark.in_turn
def test_workers_that_are_killed_change_nothing(
    cluster: LocalCluster, database: Database, corpus: Path, expected: dict[str, Any]
) -> None:
    with killing(seed=1, kills=3, between_s=0.3) as killed:
        load(database, LoadRequest("beir", corpus, on=cluster.address))
    assert killed
    assert dump_tables(database) == expected


def test_a_machine_that_goes_changes_nothing(
    cluster: LocalCluster, duckdb_database: Database, corpus: Path, expected: dict[str, Any], tmp_path: Path
) -> None:
    def kill() -> None:
        wait_until(lambda: len(list_staged(tmp_path)) > 5)
        cluster.kill_node()

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        load(duckdb_database, LoadRequest("beir", corpus, on=cluster.address))
    finally:
        killer.join()
        cluster.add_node()
    assert dump_tables(duckdb_database) == expected


def list_staged(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.arrows"))


def test_a_driver_that_is_killed_goes_on(
    cluster: LocalCluster, duckdb_database: Database, corpus: Path, expected: dict[str, Any], tmp_path: Path
) -> None:
    url = duckdb_database.url.render_as_string()
    duckdb_database.close()
    words = [sys.executable, "-c", LOAD, url, str(corpus), cluster.address]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(words, env=environment, stderr=subprocess.DEVNULL) as process:
        wait_until(lambda: any(path.stat().st_size == 0 for path in list_staged(tmp_path)))
        process.send_signal(signal.SIGKILL)
    with connect(url) as database:
        with database.read() as session:
            assert 0 < session.scalar("SELECT count(*) FROM papers") < PAPERS
        load(database, LoadRequest("beir", corpus, on=cluster.address))
        assert dump_tables(database) == expected
    assert not list_staged(tmp_path)


def build_task(path: Path, folder: Path, **other: Any) -> ReadTask:
    loader = find_loader("beir")
    file = next(file for file in loader.find_files(path.parent, {}) if file.path == path)
    folder.mkdir(exist_ok=True)
    task = ReadTask(file, str(folder), digest_file(path), look_at(file), 1)
    return replace(task, **other)


def open_staged(cluster: LocalCluster, *tasks: ReadTask) -> Any:
    return stage_files(cluster.address, find_loader("beir"), {}, tasks)


def count_rows(staged: StagedFiles) -> int:
    return sum(chunk.rows_in for chunk in staged.take(0))


def test_whole_parts_are_taken_again_and_half_ones_are_not(
    cluster: LocalCluster, corpus: Path, tmp_path: Path
) -> None:
    task = build_task(corpus / "corpus.jsonl", tmp_path / "parts")
    with open_staged(cluster, task) as staged:
        chunks = list(staged.take(0))
    parts = list_parts(tmp_path / "parts")
    assert [part.last_row for part in parts] == [chunk.last_row for chunk in chunks]
    # A part that only its name tells from the others: it is taken, so nobody has read that part of the file.
    odd = replace(chunks[1], skipped=7)
    parts[1].path.unlink()
    write_part(tmp_path / "parts", parts[1].first_row, odd)
    parts[3].path.unlink()
    (tmp_path / "parts" / "notes.arrows").write_text("somebody's")
    (tmp_path / "parts" / ".0.writing").write_bytes(parts[2].path.read_bytes()[:100])
    with open_staged(cluster, task) as staged:
        again = list(staged.take(0))
    assert [chunk.skipped for chunk in again[:4]] == [0, 7, 0, 0]
    assert [(chunk.last_row, chunk.rows_in) for chunk in again] == [
        (chunk.last_row, chunk.rows_in) for chunk in chunks
    ]
    assert all(
        one.tables[name].equals(other.tables[name])
        for one, other in zip(again, chunks, strict=True)
        for name in one.tables
    )
    assert not list((tmp_path / "parts").glob(".*"))


def test_a_damaged_part_is_told_removed_and_read_again(
    cluster: LocalCluster, corpus: Path, tmp_path: Path
) -> None:
    task = build_task(corpus / "queries.jsonl", tmp_path / "parts")
    with open_staged(cluster, task) as staged:
        rows = count_rows(staged)
    part = list_parts(tmp_path / "parts")[0]
    content = bytearray(part.path.read_bytes())
    content[len(content) // 2] ^= 1
    part.path.write_bytes(content)
    with open_staged(cluster, task) as staged, pytest.raises(LoadError, match="was damaged, and is removed"):
        count_rows(staged)
    with open_staged(cluster, task) as staged:
        assert count_rows(staged) == rows


def test_parts_of_a_load_that_began_elsewhere_are_gone_on_from(
    cluster: LocalCluster, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = build_task(corpus / "corpus.jsonl", tmp_path / "parts")
    with open_staged(cluster, task) as staged:
        rows = count_rows(staged)
    for part in list_parts(tmp_path / "parts")[3:]:
        part.path.unlink()
    monkeypatch.setattr(staging, "CHUNK_ROWS", 33)
    monkeypatch.setattr(staging, "BULK_CHUNK_ROWS", 33)
    with open_staged(cluster, task) as staged:
        assert count_rows(staged) == rows


@pytest.mark.parametrize("change", [{"digest": "0" * 64}, {"state": ((1, 1),)}])
def test_a_file_that_changes_or_is_another_one_is_an_error(
    cluster: LocalCluster, corpus: Path, tmp_path: Path, change: dict[str, Any]
) -> None:
    task = build_task(corpus / "corpus.jsonl", tmp_path / "parts", **change)
    with open_staged(cluster, task) as staged, pytest.raises(LoadError, match="is not what it was when"):
        count_rows(staged)


def test_a_file_cut_short_raises_what_one_process_raises(
    cluster: LocalCluster,
    both_databases: tuple[Database, Database],
    corpus: Path,
    tmp_path: Path,
) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for path in corpus.rglob("*.*"):
        target = folder / path.relative_to(corpus)
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(path.read_bytes())
    some = (folder / "corpus.jsonl").read_bytes().splitlines(keepends=True)[:300]
    whole = gzip.compress(b"".join(some), compresslevel=0, mtime=0)
    (folder / "corpus.jsonl").unlink()
    (folder / "corpus.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    told = []
    for database, on in zip(both_databases, (None, cluster.address), strict=True):
        with pytest.raises(LoadError, match="damaged or cut short") as raised:
            load(database, LoadRequest("beir", folder, on=on))
        told.append((str(raised.value), dump_tables(database)))
    assert told[0] == told[1]
    (folder / "corpus.jsonl.gz").write_bytes(whole)
    shared, alone = (
        load(database, LoadRequest("beir", folder, on=on))
        for database, on in zip(both_databases, (cluster.address, None), strict=True)
    )
    assert replace(shared, elapsed_s=0) == replace(alone, elapsed_s=0)
    assert dump_tables(both_databases[0]) == dump_tables(both_databases[1])


def test_a_load_told_to_stop_ends_all_that_read_for_it_and_goes_on_later(
    cluster: LocalCluster, duckdb_database: Database, corpus: Path, expected: dict[str, Any]
) -> None:
    request = LoadRequest("beir", corpus, on=cluster.address)
    with pytest.raises(LoadError, match=r"corpus\.jsonl, line 701: not_json") as raised:
        load(duckdb_database, replace(request, on_error="stop"))
    wait_until(lambda: not list_workers())  # also while the error is in hand
    assert raised.value.__traceback__ is not None
    load(duckdb_database, request)
    assert dump_tables(duckdb_database) == expected


def test_a_load_that_fails_does_not_wait_for_files_that_workers_have_yet_to_read(
    duckdb_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits, stopped, ended = threading.Event(), threading.Event(), list[bool]()

    def wait_for_workers() -> Iterator[Chunk]:
        waits.set()
        ended.append(stopped.wait(20))
        yield from ()

    @contextmanager
    def read_first(*given: Any) -> Iterator[Iterator[Reading]]:
        _, _, loader, options, plans, *_ = given
        try:
            first = Reading(loader.read_chunks(plans[0].file, options, 1))
            yield iter([first, *(Reading(wait_for_workers()) for _ in plans[1:])])
        finally:
            stopped.set()

    def fail(*_: object) -> None:
        assert waits.wait(20)
        raise LoadError("the disk is full")

    monkeypatch.setattr("pinakes.load.load.read_on_cluster", read_first)
    monkeypatch.setattr("pinakes.load.load.merge_chunk", fail)
    folder = write_beir(tmp_path / "beir", [paper(1)], "q1\tp1\t1\n", queries=1)
    with pytest.raises(LoadError, match="the disk is full"):
        load(duckdb_database, LoadRequest("beir", folder, on="nowhere.invalid:1"))
    assert ended == [True]


def test_what_is_not_shared_says_so_and_asks_no_cluster(
    duckdb_database: Database, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("pinakes.cluster.loading.connect_cluster", fail)
    told: list[str] = []
    request = LoadRequest("beir", corpus, on="nowhere.invalid:1")
    load(duckdb_database, replace(request, limit=10), tell=told.append)
    assert told == ["a load with --limit reads little; the cluster nowhere.invalid:1 is not used."]
    with pytest.raises(AssertionError):
        load(duckdb_database, request)
    load(duckdb_database, replace(request, on=None))
    load(duckdb_database, request)  # nothing is left to be read


def test_two_loads_of_one_source_at_once_are_refused(
    cluster: LocalCluster, duckdb_database: Database, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_files = read_on_cluster

    def load_twice(*given: Any) -> Any:
        refused = pytest.raises(LoadError, match="is being filled by another process")
        with open_files(*given), refused, open_files(*given):
            pass
        raise KeyboardInterrupt

    monkeypatch.setattr("pinakes.load.load.read_on_cluster", load_twice)
    with pytest.raises(KeyboardInterrupt):
        load(duckdb_database, LoadRequest("beir", corpus, on=cluster.address))
