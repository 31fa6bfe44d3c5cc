"""While an encoding computes, others read and write the database, and its vectors are right in the end."""

import os
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pinakes.database import Database, connect_read_only
from pinakes.errors import IndexingError
from pinakes.index.encode import EncodeOptions, QuerySource, encode_source
from pinakes.index.index import index
from pinakes.indexers.encoder.batches import EncodedBatch
from pinakes.indexers.encoder.encode import encode_texts
from pinakes.indexers.encoder.encoder import Encoder
from pinakes.matrices import to_lists
from pinakes.run.run import RunRequest, run
from pinakes.schema import vectors_table
from pinakes.systems.base import SystemOptions
from pinakes.vectors import encoding, writing
from pinakes.vectors.stored import find_encoder, write_vectors
from tests.benching import count

pytestmark = pytest.mark.in_turn

TABLE = "vectors_toy_fp32"
READ = """
import sys
from pinakes.database import connect_read_only
with connect_read_only(sys.argv[1], wait_s=60) as database, database.read() as session:
    print(session.scalar("SELECT COUNT(*) FROM papers"))
"""
WRITE = """
import sys
from pinakes.database import connect
with connect(sys.argv[1], wait_s=60) as database, database.begin() as session:
    print(session.execute("UPDATE papers SET title = 'changed ' || title WHERE paper_id % 50 = 0"))
"""


def run_other(database: Database, program: str) -> int:
    """What another process prints."""
    url = database.url.render_as_string(hide_password=False)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", program, url], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def disturb(monkeypatch: pytest.MonkeyPatch, work: Callable[[int], None]) -> None:
    """Call `work` with the number of each batch, before it is computed."""

    def encode(encoder: Encoder, texts: Iterator[tuple[uuid.UUID, str]]) -> Iterator[EncodedBatch[Any]]:
        for number, batch in enumerate(encode_texts(encoder, texts, token_budget=1_000)):
            work(number)
            yield batch

    monkeypatch.setattr(encoding, "encode_texts", encode)
    monkeypatch.setattr(writing, "FEWEST_TEXTS", 16)


def test_another_process_reads_and_one_writes_and_what_it_wrote_is_encoded_too(
    prepared: Database, toy_folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[int] = []

    def work(number: int) -> None:
        if number == 2:
            found.append(run_other(prepared, READ))
        if number == 4 and len(found) == 1:
            found.append(run_other(prepared, WRITE))

    disturb(monkeypatch, work)
    options = SystemOptions(tmp_path, precision="fp32")
    made = index(prepared, "synthetic", toy_folder, options=options)
    papers, changed = found
    assert (papers, changed) == (count(prepared, "papers"), papers // 50)
    monkeypatch.setattr(encoding, "encode_texts", encode_texts)
    again = index(prepared, "synthetic", toy_folder, options=options)
    assert again.added == 0  # the changed texts have vectors
    assert made.added == count(prepared, TABLE) > again.existing
    assert run(prepared, RunRequest("synthetic", toy_folder, options)).queries_answered > 0


def test_what_others_encoded_meanwhile_is_not_stored_twice(
    prepared: Database, toy_folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = SystemOptions(tmp_path, precision="fp32")

    def encode(encoder: Encoder, texts: Iterator[tuple[uuid.UUID, str]]) -> Iterator[EncodedBatch[Any]]:
        pairs = list(texts)
        with prepared.read() as session:
            stored = find_encoder(session, "toy_fp32")
        assert stored is not None
        (other,) = encode_texts(encoder, pairs[5:15])
        digests = pa.array([str(key) for key in other.keys])
        rows = pa.table({"text_digest": digests, "embedding": to_lists(other.vectors)})
        for _ in range(2):
            write_vectors(prepared, stored, vectors_table(stored.name, stored.dimensions), rows)
        assert count(prepared, TABLE) == 10
        yield from encode_texts(encoder, pairs)

    monkeypatch.setattr(encoding, "encode_texts", encode)
    made = index(prepared, "synthetic", toy_folder, options=options)
    assert made.added == count(prepared, TABLE)
    with prepared.read() as session:
        assert session.scalar(f"SELECT COUNT(DISTINCT text_digest) FROM {TABLE}") == made.added


def test_an_encoder_that_was_removed_meanwhile_is_told(
    prepared: Database, toy_folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(number: int) -> None:
        if number == 0:
            with prepared.begin() as session:
                session.execute(f"DROP TABLE {TABLE}")
                session.execute("DELETE FROM encoders")

    disturb(monkeypatch, work)
    options = SystemOptions(tmp_path, precision="fp32")
    with pytest.raises(IndexingError, match="vectors of toy_fp32 were removed while it encoded; start the"):
        index(prepared, "synthetic", toy_folder, options=options)
    monkeypatch.setattr(encoding, "encode_texts", encode_texts)
    assert index(prepared, "synthetic", toy_folder, options=options).added == count(prepared, TABLE)


def test_a_query_that_is_encoded_into_files_leaves_the_database_to_others(
    prepared: Database, toy_folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared.close()
    changed: list[int] = []
    module = sys.modules["pinakes.index.encode"]

    def encode(*given: Any) -> Iterator[EncodedBatch[Any]]:
        if not changed:
            changed.append(run_other(prepared, WRITE))
        yield from encode_texts(*given)

    monkeypatch.setattr(module, "encode_texts", encode)
    with connect_read_only(prepared.url) as database:
        query = "SELECT paper_id AS id, title AS text FROM papers WHERE title <> '' ORDER BY 1"
        options = EncodeOptions(precision="fp32", devices=("cpu",))
        made = encode_source(QuerySource(database, query), toy_folder, tmp_path / "out", options)
    assert changed[0] > 0
    assert made.rows > 0


def test_vectors_are_written_for_a_small_part_of_the_time() -> None:
    now = [0.0]
    pace = writing.WritingPace(lambda: now[0])
    assert [pace.is_due(texts) for texts in (63, 64)] == [False, True]
    with pace.measured():
        now[0] += 2
    assert not pace.is_due(1_000)
    assert pace.is_due(writing.MOST_TEXTS)
    now[0] += 2 * writing.PAUSE
    assert pace.is_due(64)


def test_what_was_computed_before_an_error_is_written() -> None:
    def parts() -> Iterator[tuple[pa.Table, int]]:
        yield pa.table({"n": [1]}), 1
        yield pa.table({"n": [2]}), 1
        raise KeyboardInterrupt

    written: list[Any] = []
    joined = writing.join_parts(parts(), lambda _: False)
    with pytest.raises(KeyboardInterrupt):
        written.extend((rows["n"].to_pylist(), texts) for rows, texts in joined)
    assert written == [([1, 2], 2)]
