"""Vectors encoded to an object store: the rows of a disk, gone on with, whoever else writes."""

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pinakes.errors import IndexingError, PinakesError
from pinakes.index.encode import EncodeOptions, encode_source
from pinakes.indexers.encoder.vector_shards import MANIFEST_FILE, VectorShards, hold_shards, name_shard
from tests.clusters import LocalCluster, killing
from tests.stores import ObjectStore

OPTIONS = EncodeOptions(precision="fp32", devices=("cpu",), shard_rows=30)
ROWS = 100


@pytest.fixture
def source(tmp_path: Path) -> Path:
    words = ["graph", "neural", "network", "protein", "cell"]
    texts = [" ".join(words[: 1 + n % 5]) + f" {n % 40}" for n in range(ROWS)]
    path = tmp_path / "texts.parquet"
    pq.write_table(pa.table({"id": range(ROWS), "text": texts}), path)
    return path


@pytest.fixture
def expected(source: Path, toy_folder: str, tmp_path: Path) -> Path:
    encode_source(source, toy_folder, tmp_path / "expected", OPTIONS)
    return tmp_path / "expected"


def require_same(store: ObjectStore, key: str, expected: Path) -> None:
    """Fail unless the store has the rows of a folder, in files that the manifest names, and nothing else."""
    manifest = json.loads(store.read(f"{key}/{MANIFEST_FILE}"))
    wanted = json.loads((expected / MANIFEST_FILE).read_text())
    files = manifest.pop("files")
    assert store.list_files(key).keys() == {*files, MANIFEST_FILE}
    assert len(files) == len(wanted.pop("files"))
    assert manifest == wanted
    for number, name in enumerate(files):
        content = store.read(f"{key}/{name}")
        assert len(content) == files[name]["bytes"]
        made, one = pq.read_table(io.BytesIO(content)), pq.read_table(expected / name_shard(number))
        assert made.schema.metadata == one.schema.metadata
        assert made.select(["id", "text_digest"]).equals(one.select(["id", "text_digest"]))
        found, existing = (np.stack(part["embedding"].to_numpy()) for part in (made, one))
        np.testing.assert_allclose(found, existing, rtol=0, atol=1e-6)


def test_the_rows_are_those_of_a_disk(
    store: ObjectStore, source: Path, expected: Path, toy_folder: str, tmp_path: Path
) -> None:
    key = f"{tmp_path.name}/vectors of ü"
    made = encode_source(source, toy_folder, store.address(key), OPTIONS)
    assert (made.rows, made.encoded) == (ROWS, 40)
    require_same(store, key, expected)
    assert encode_source(source, toy_folder, store.address(key), OPTIONS).encoded == 0
    require_same(store, key, expected)


def test_a_killed_encoding_goes_on(
    store: ObjectStore,
    source: Path,
    expected: Path,
    toy_folder: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    key = f"{tmp_path.name}/out"
    write = VectorShards.write

    def stop(shards: VectorShards, number: int, *rows: pa.Array) -> None:
        if number == 2:
            raise KeyboardInterrupt
        write(shards, number, *rows)

    with monkeypatch.context() as killed:
        killed.setattr(VectorShards, "write", stop)
        with pytest.raises(KeyboardInterrupt):
            encode_source(source, toy_folder, store.address(key), OPTIONS)
    whole = store.list_files(key)
    assert len(whole) == 2
    # A write that ended half-way, of a driver whose connection came back while it was going down.
    first = min(whole)
    store.write(f"{key}/shard-00002-0123456789abcdef.parquet", store.read(f"{key}/{first}")[:-100])
    assert encode_source(source, toy_folder, store.address(key), OPTIONS).encoded == 0
    require_same(store, key, expected)


def test_a_manifest_that_names_a_file_that_is_gone_is_mended(
    store: ObjectStore, source: Path, expected: Path, toy_folder: str, tmp_path: Path
) -> None:
    key = f"{tmp_path.name}/out"
    encode_source(source, toy_folder, store.address(key), OPTIONS)
    for name in [*json.loads(store.read(f"{key}/{MANIFEST_FILE}"))["files"]][:3]:
        store.remove(f"{key}/{name}")
    assert encode_source(source, toy_folder, store.address(key), OPTIONS).encoded == 30
    require_same(store, key, expected)


def test_two_who_encode_to_one_place_do_no_harm(
    store: ObjectStore, source: Path, expected: Path, toy_folder: str, tmp_path: Path
) -> None:
    key = f"{tmp_path.name}/out"
    settings = json.loads((expected / MANIFEST_FILE).read_text())
    kept = {name: settings[name] for name in settings if name not in {"files", "rows", "empty", "shards"}}
    del kept["max_cosine_error"]
    with hold_shards(store.address(key), kept, 16) as other:
        encode_source(source, toy_folder, store.address(key), OPTIONS)
        # Rounded otherwise, as on another machine: the shard has another name.
        other.write(0, pa.array([0]), ["0" * 32], np.ones((1, 16), np.float32))
        assert MANIFEST_FILE not in store.list_files(key)
        encode_source(source, toy_folder, store.address(key), OPTIONS)
        require_same(store, key, expected)
        with pytest.raises(IndexingError, match="another process has written"):
            other.finish(1, {})
    require_same(store, key, expected)


def test_what_the_store_refuses_is_told(
    store: ObjectStore, source: Path, toy_folder: str, tmp_path: Path
) -> None:
    with pytest.raises(PinakesError, match="no such bucket"):
        encode_source(source, toy_folder, store.address("x", bucket="none"), OPTIONS)
    with store.refusing(), pytest.raises(PinakesError, match="refuses the credentials"):
        encode_source(source, toy_folder, store.address(tmp_path.name), OPTIONS)


def test_workers_of_a_cluster_write_to_the_store(
    store: ObjectStore,
    cluster: LocalCluster,
    source: Path,
    expected: Path,
    toy_folder: str,
    tmp_path: Path,
) -> None:
    key = f"{tmp_path.name}/out"
    with killing(seed=1, kills=1):
        made = encode_source(source, toy_folder, store.address(key), replace(OPTIONS, on=cluster.address))
    assert made.encoded == 40
    require_same(store, key, expected)
