"""Texts of files and of queries become files of vectors; nothing is encoded twice, nothing is half there."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pinakes.database import Database
from pinakes.errors import IndexingError, InputError
from pinakes.index import encode as encoding
from pinakes.index.encode import EncodeOptions, EncodeSummary, QuerySource, encode_source
from pinakes.indexers.encoder.batches import EncodedBatch
from pinakes.indexers.encoder.encode import encode_texts, text_digest
from pinakes.indexers.encoder.model import load_encoder
from pinakes.indexers.encoder.presets import resolve_model
from pinakes.indexers.encoder.vector_shards import hold_shards

ROWS: list[tuple[str, str | None, str | None]] = [
    ("p1", "Citation graph", "A model of the graph."),
    ("p2", "Query", None),
    ("p3", None, None),
    ("p4", "Citation graph", "A model of the graph."),
    ("p5", "", "The paper of the query."),
    ("p6", "Retrieval", "of"),
]
TEXTS = {
    "p1": "Citation graph A model of the graph.",
    "p2": "Query",
    "p4": "Citation graph A model of the graph.",
    "p5": "The paper of the query.",
    "p6": "Retrieval of",
}
OPTIONS = EncodeOptions(text_columns=("title", "abstract"), precision="fp32", devices=("cpu",), shard_rows=2)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "papers" / "a.parquet", ROWS)


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were encoded, in order."""
    texts: list[str] = []

    def encode(encoder: Any, pairs: Iterable[tuple[Any, str]], *rest: Any) -> Iterator[EncodedBatch[Any]]:
        pairs = list(pairs)
        texts.extend(text for _, text in pairs)
        return encode_texts(encoder, pairs, *rest)

    monkeypatch.setattr(encoding, "encode_texts", encode)
    return texts


def write_rows(path: Path, rows: list[tuple[str, str | None, str | None]]) -> Path:
    path.parent.mkdir(exist_ok=True)
    columns = list(zip(*rows, strict=True))
    pq.write_table(pa.table(dict(zip(("id", "title", "abstract"), columns, strict=True))), path)
    return path


def read_folder(folder: Path) -> dict[str, tuple[str, list[float]]]:
    shards = [pq.read_table(path).to_pylist() for path in sorted(folder.glob("*.parquet"))]
    return {row["id"]: (row["text_digest"], row["embedding"]) for rows in shards for row in rows}


def read_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_every_row_with_a_text_has_its_vector(source: Path, toy_folder: str, tmp_path: Path) -> None:
    summary = encode_source(source, toy_folder, tmp_path / "out", OPTIONS)
    assert replace(summary, elapsed_s=0.0) == EncodeSummary(
        str(tmp_path / "out"), rows=5, empty=1, shards=3, encoded=4, max_cosine_error=0.0, elapsed_s=0.0
    )
    found = read_folder(tmp_path / "out")
    encoder = load_encoder(resolve_model(toy_folder), "fp32")
    assert {key: digest for key, (digest, _) in found.items()} == {
        key: text_digest(text) for key, text in TEXTS.items()
    }
    for key, text in TEXTS.items():
        np.testing.assert_allclose(found[key][1], encoder.embed(encoder.tokenize([text]))[0], atol=2e-6)
    shard = pq.read_table(tmp_path / "out" / "shard-00002.parquet")
    assert shard.schema.field("embedding").type == pa.list_(pa.float32(), 16)
    assert shard.num_rows == 1


def test_the_manifest_says_what_made_the_vectors(source: Path, toy_folder: str, tmp_path: Path) -> None:
    encode_source(source, toy_folder, tmp_path / "out", OPTIONS)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    digest = load_encoder(resolve_model(toy_folder), "fp32").digest
    assert list(manifest.pop("files")) == [
        "shard-00000.parquet",
        "shard-00001.parquet",
        "shard-00002.parquet",
    ]
    assert manifest == {
        "encoder": resolve_model(toy_folder).name,
        "revision": digest,
        "weights_digest": digest,
        "dimensions": 16,
        "pooling": "mean",
        "max_tokens": 32,
        "normalized": True,
        "precision": "fp32",
        "rows": 5,
        "empty": 1,
        "shards": 3,
        "max_cosine_error": 0.0,
    }


def test_no_text_is_encoded_twice(source: Path, toy_folder: str, tmp_path: Path, encoded: list[str]) -> None:
    out = tmp_path / "out"
    encode_source(source, toy_folder, out, OPTIONS)
    assert sorted(encoded) == sorted(set(TEXTS.values()))
    before = read_bytes(out)
    encoded.clear()
    assert encode_source(source, toy_folder, out, OPTIONS).encoded == 0
    assert (encoded, read_bytes(out)) == ([], before)


def test_rows_may_be_added_removed_and_moved_and_only_new_texts_are_encoded(
    source: Path, toy_folder: str, tmp_path: Path, encoded: list[str]
) -> None:
    out = tmp_path / "out"
    encode_source(source, toy_folder, out, OPTIONS)
    before = read_folder(out)
    encoded.clear()
    write_rows(source, [("p9", "New", None), *reversed(ROWS), ("p8", "Query", None)])
    assert encode_source(source, toy_folder, out, OPTIONS).rows == 7
    assert encoded == ["New"]
    assert {key: row for key, row in read_folder(out).items() if key in before} == before
    write_rows(source, ROWS[:1])
    encode_source(source, toy_folder, out, OPTIONS)
    assert sorted(read_bytes(out)) == ["manifest.json", "shard-00000.parquet"]
    assert (read_folder(out), encoded) == ({"p1": before["p1"]}, ["New"])


def test_a_query_gives_what_a_file_gives(read_only: Database, toy_folder: str, tmp_path: Path) -> None:
    text = "SELECT source_id, title, abstract FROM papers WHERE source_id IN ('p1', 'p2') ORDER BY source_id"
    with_query = replace(OPTIONS, id_column="source_id")
    encode_source(QuerySource(read_only, text), toy_folder, tmp_path / "query", with_query)
    with read_only.read() as session:
        rows = [(row["source_id"], row["title"], row["abstract"]) for row in session.rows(text)]
    assert len(rows) == 2
    encode_source(write_rows(tmp_path / "in" / "a.parquet", rows), toy_folder, tmp_path / "file", OPTIONS)
    assert read_bytes(tmp_path / "query") == read_bytes(tmp_path / "file")


def test_a_folder_is_read_in_the_order_of_its_files(source: Path, toy_folder: str, tmp_path: Path) -> None:
    write_rows(source.with_name("0.parquet"), [("p0", "First", None)])
    encode_source(source.parent, toy_folder, tmp_path / "out", OPTIONS)
    assert list(read_folder(tmp_path / "out")) == ["p0", "p1", "p2", "p4", "p5", "p6"]


@pytest.mark.long  # tests/unit/indexers/test_encode_processes.py has two devices in each `make test`
def test_several_devices_give_the_same_vectors(source: Path, toy_folder: str, tmp_path: Path) -> None:
    encode_source(source, toy_folder, tmp_path / "one", OPTIONS)
    encode_source(source, toy_folder, tmp_path / "two", replace(OPTIONS, devices=("cpu", "cpu")))
    one, two = read_folder(tmp_path / "one"), read_folder(tmp_path / "two")
    assert one.keys() == two.keys()
    for key in one:
        np.testing.assert_allclose(one[key][1], two[key][1], atol=2e-6)


def test_half_precision_is_compared_with_float32_and_refused_above_the_limit(
    source: Path, toy_folder: str, tmp_path: Path
) -> None:
    half = replace(OPTIONS, precision="bf16", max_cosine_error=0.01)
    summary = encode_source(source, toy_folder, tmp_path / "half", half)
    assert 0 < summary.max_cosine_error < 0.01
    manifest = json.loads((tmp_path / "half" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["max_cosine_error"] == summary.max_cosine_error
    assert (
        encode_source(source, toy_folder, tmp_path / "half", half).max_cosine_error
        == summary.max_cosine_error
    )
    with pytest.raises(IndexingError, match=r"expected at most 1e-09\. .*--max-cosine-error"):
        encode_source(source, toy_folder, tmp_path / "none", replace(half, max_cosine_error=1e-9))
    assert list((tmp_path / "none").iterdir()) == []


def test_vectors_of_another_model_are_refused(source: Path, toy_folder: str, tmp_path: Path) -> None:
    encode_source(source, toy_folder, tmp_path / "out", OPTIONS)
    before = read_bytes(tmp_path / "out")
    with pytest.raises(IndexingError, match="Encode into another folder"):
        encode_source(source, toy_folder, tmp_path / "out", replace(OPTIONS, pooling="cls"))
    assert read_bytes(tmp_path / "out") == before


def test_a_damaged_shard_is_never_read(source: Path, toy_folder: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    encode_source(source, toy_folder, out, OPTIONS)
    undamaged = read_bytes(out)
    shard = out / "shard-00001.parquet"
    vector = np.array(read_folder(out)["p4"][1], dtype=np.float32).tobytes()
    whole = shard.read_bytes()
    shard.write_bytes(whole.replace(vector, vector[:-1] + b"\x00"))
    assert shard.read_bytes() != whole
    write_rows(source, [*ROWS[4:], *ROWS[:4]])
    with pytest.raises(IndexingError, match=r"shard-00001\.parquet is damaged"):
        encode_source(source, toy_folder, out, OPTIONS)
    write_rows(source, ROWS)
    shard.unlink()
    encode_source(source, toy_folder, out, OPTIONS)
    assert read_bytes(out) == undamaged


def test_a_folder_is_held_by_one_process_at_a_time(source: Path, toy_folder: str, tmp_path: Path) -> None:
    with (
        hold_shards(tmp_path / "out", {}, 16),
        pytest.raises(IndexingError, match="is being written by another process"),
    ):
        encode_source(source, toy_folder, tmp_path / "out", OPTIONS)


def test_a_source_without_what_is_requested_for_is_refused(
    source: Path, toy_folder: str, tmp_path: Path
) -> None:
    cases: list[tuple[Path, EncodeOptions, str]] = [
        (source, replace(OPTIONS, id_column="key"), "has no column key; it has id, title, abstract"),
        (tmp_path / "none", OPTIONS, "is no Parquet file and no folder of them"),
        (source, replace(OPTIONS, shard_rows=0), "shard_rows is 0; expected at least 1"),
    ]
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 no more")
    cases.append((broken, OPTIONS, "cannot be read as Parquet"))
    nameless = tmp_path / "nameless.parquet"
    pq.write_table(pa.table({"id": [None], "title": ["x"], "abstract": [1]}), nameless)
    cases.append((nameless, OPTIONS, "a row has no id"))
    number = tmp_path / "number.parquet"
    pq.write_table(pa.table({"id": [1], "title": ["x"], "abstract": [1]}), number)
    cases.append((number, OPTIONS, "the row with id 1 has a value that is no text"))
    for path, options, message in cases:
        with pytest.raises(InputError, match=message):
            encode_source(path, toy_folder, tmp_path / "out", options)


def test_an_empty_source_gives_a_manifest_of_nothing(toy_folder: str, tmp_path: Path) -> None:
    source = write_rows(tmp_path / "in" / "a.parquet", [("p1", None, None)])
    pq.write_table(
        pq.read_table(source).cast(pa.schema({"id": "str", "title": "str", "abstract": "str"})), source
    )
    summary = encode_source(source, toy_folder, tmp_path / "out", OPTIONS)
    assert (summary.rows, summary.empty, summary.shards) == (0, 1, 0)
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["files"] == {}


def test_a_blank_text_is_left_out_like_an_empty_one(toy_folder: str, tmp_path: Path) -> None:
    rows: list[tuple[str, str | None, str | None]] = [
        ("p1", "  ", "\n\t"),
        ("p2", "\u00a0", None),
        ("p3", "", ""),
        ("p4", " ", "graphs"),
    ]
    source = write_rows(tmp_path / "in" / "a.parquet", rows)
    summary = encode_source(source, toy_folder, tmp_path / "out", OPTIONS)
    assert (summary.rows, summary.empty) == (1, 3)
    [shard] = sorted((tmp_path / "out").glob("shard-*.parquet"))
    whole = write_rows(tmp_path / "whole" / "a.parquet", [("p4", "graphs", None)])
    assert pq.read_table(shard)["id"].to_pylist() == ["p4"]
    encode_source(whole, toy_folder, tmp_path / "other", OPTIONS)
    [other] = sorted((tmp_path / "other").glob("shard-*.parquet"))
    assert pq.read_table(shard)["text_digest"] == pq.read_table(other)["text_digest"]
