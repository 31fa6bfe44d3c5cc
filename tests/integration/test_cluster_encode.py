"""Texts encoded on a cluster: the files and vectors of one machine, whoever is killed meanwhile."""

import random
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pinakes.errors import IndexingError, InputError
from pinakes.index.encode import EncodeOptions, encode_source
from tests.clusters import LocalCluster, killing, require_same_shards
from tests.toy_encoder import WORDS, build_toy_encoder

OPTIONS = EncodeOptions(precision="fp32", devices=("cpu",), shard_rows=100)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows of few words: a third of the texts are there before, also in files that are in hand."""
    drawn = random.Random(7)
    texts = [" ".join(drawn.choices(WORDS, k=drawn.randint(0, 5))) for _ in range(2_000)]
    path = tmp_path_factory.mktemp("source") / "texts.parquet"
    pq.write_table(pa.table({"id": range(len(texts)), "text": texts}), path)
    return path


@pytest.fixture(scope="module")
def alone(source: Path, toy_folder: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that this machine makes."""
    folder = tmp_path_factory.mktemp("alone")
    encode_source(source, toy_folder, folder / "out", OPTIONS)
    return folder / "out"


def count_texts(source: Path) -> int:
    return len({text for text in pq.read_table(source)["text"].to_pylist() if text})


@pytest.mark.long  # `make test` has workers killed beside it
def test_the_files_are_those_of_one_machine(
    cluster: LocalCluster, source: Path, toy_folder: str, alone: Path, tmp_path: Path
) -> None:
    summary = encode_source(source, toy_folder, tmp_path / "out", replace(OPTIONS, on=cluster.address))
    assert summary.encoded == count_texts(source)
    require_same_shards(tmp_path / "out", alone)


def test_workers_that_are_killed_change_nothing(
    cluster: LocalCluster, source: Path, toy_folder: str, alone: Path, tmp_path: Path
) -> None:
    with killing(seed=1, kills=3) as killed:
        summary = encode_source(source, toy_folder, tmp_path / "out", replace(OPTIONS, on=cluster.address))
    assert killed
    assert summary.encoded == count_texts(source)
    require_same_shards(tmp_path / "out", alone)


def test_what_a_worker_cannot_do_is_told_in_words(
    cluster: LocalCluster, source: Path, toy_folder: str, tmp_path: Path
) -> None:
    options = replace(OPTIONS, on=cluster.address)
    with pytest.raises(InputError, match="one device each"):
        encode_source(source, toy_folder, tmp_path / "out", replace(options, devices=("cuda:0", "cuda:1")))
    with pytest.raises(InputError, match="has no GPU"):
        encode_source(source, toy_folder, tmp_path / "out", replace(options, devices=("cuda",)))
    bad = build_toy_encoder(tmp_path / "bad")
    (bad / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(IndexingError, match="a worker of the cluster: "):
        encode_source(source, str(bad), tmp_path / "out", options)
