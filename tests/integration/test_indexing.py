"""What was encoded is never encoded again, and a killed index goes on where it was."""

import errno
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import IndexingError
from pinakes.index.index import index
from pinakes.indexers.encoder.batches import EncodedBatch
from pinakes.indexers.encoder.encode import encode_texts
from pinakes.indexers.encoder.encoder import Encoder
from pinakes.run.run import RunRequest, run
from pinakes.schema import papers
from pinakes.systems.base import SystemOptions
from pinakes.vectors import encoding
from tests.benching import change, count
from tests.toy_encoder import build_toy_encoder

pytestmark = pytest.mark.in_turn

TABLE = "vectors_toy_fp32"


def small_batches(encoder: Encoder, texts: Iterator[tuple[uuid.UUID, str]]) -> Iterator[EncodedBatch[Any]]:
    return encode_texts(encoder, texts, token_budget=2_000)


def read_vectors(database: Database) -> dict[str, list[float]]:
    with database.read() as session:
        rows = session.fetch_arrow(f"SELECT text_digest, embedding FROM {TABLE} ORDER BY text_digest")
    return dict(zip(map(str, rows["text_digest"].to_pylist()), rows["embedding"].to_pylist(), strict=True))


def test_a_killed_index_keeps_its_batches_and_goes_on_with_the_rest(
    prepared: Database, toy_folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(encoder: Encoder, texts: Iterator[tuple[uuid.UUID, str]]) -> Iterator[EncodedBatch[Any]]:
        for number, batch in enumerate(small_batches(encoder, texts)):
            if number == 3:
                raise KeyboardInterrupt
            yield batch

    options = SystemOptions(tmp_path, precision="fp32")
    monkeypatch.setattr(encoding, "encode_texts", killed)
    with pytest.raises(KeyboardInterrupt):
        index(prepared, "synthetic", toy_folder, options=options)
    kept = read_vectors(prepared)
    assert 0 < len(kept) < 300

    monkeypatch.setattr(encoding, "encode_texts", small_batches)
    resumed = index(prepared, "synthetic", toy_folder, options=options)
    whole = read_vectors(prepared)
    assert (resumed.existing, resumed.added) == (len(kept), len(whole) - len(kept))
    assert kept.items() <= whole.items()

    change(prepared, f"DELETE FROM {TABLE}")
    index(prepared, "synthetic", toy_folder, options=options)
    uninterrupted = read_vectors(prepared)
    assert uninterrupted.keys() == whole.keys()
    for digest, vector in uninterrupted.items():
        np.testing.assert_allclose(whole[digest], vector, atol=1e-5)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_once_its_folder_is_known_an_encoder_indexes_without_transformers(
    prepared: Database, toy_folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, precision: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    options = SystemOptions(tmp_path, precision=precision)
    before = index(prepared, "synthetic", toy_folder, options=options)
    table = f"vectors_toy_{precision}"
    with prepared.read() as session:
        expected = session.rows(f"SELECT * FROM {table} ORDER BY text_digest")

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("transformers was asked for a model")

    monkeypatch.setattr("transformers.AutoModel.from_pretrained", refuse)
    again = index(prepared, "synthetic", toy_folder, options=options)
    assert (again.added, again.existing) == (0, before.added)
    change(prepared, f"DELETE FROM {table}")
    assert index(prepared, "synthetic", toy_folder, options=options).added == before.added
    with prepared.read() as session:
        found = session.rows(f"SELECT * FROM {table} ORDER BY text_digest")
    assert [str(row) for row in found] == [str(row) for row in expected]


def test_only_a_text_that_is_new_is_encoded(prepared: Database, toy_folder: str, tmp_path: Path) -> None:
    options = SystemOptions(tmp_path, precision="fp32")
    first = index(prepared, "synthetic", toy_folder, options=options)
    again = index(prepared, "synthetic", toy_folder, options=options)
    assert (again.added, again.existing) == (0, first.added)
    change(prepared, "UPDATE papers SET title = 'A title of its own' WHERE source_id = 'syn-00000007'")
    changed = index(prepared, "synthetic", toy_folder, options=options)
    assert (changed.added, changed.existing) == (1, first.added - 1)
    assert count(prepared, TABLE) == first.added + 1


def test_the_same_text_in_two_papers_has_one_vector(
    prepared: Database, toy_folder: str, tmp_path: Path
) -> None:
    twins = "UPDATE papers SET title = 'Twins', abstract = NULL WHERE source_id IN "
    change(prepared, twins + "('syn-00000007', 'syn-00000008')")
    added = index(prepared, "synthetic", toy_folder, options=SystemOptions(tmp_path, precision="fp32")).added
    assert added == count(prepared, "synthetic.candidates") + count(prepared, "synthetic.queries") - 1
    ranked = run(prepared, RunRequest("synthetic", toy_folder, SystemOptions(tmp_path, precision="fp32")))
    assert ranked.hit_count == 300 * ranked.queries_expected


def test_another_model_under_the_same_name_is_refused(
    prepared: Database, toy_folder: str, tmp_path: Path
) -> None:
    options = SystemOptions(tmp_path, precision="fp32")
    index(prepared, "synthetic", toy_folder, options=options)
    other = tmp_path / "elsewhere" / Path(toy_folder).name
    build_toy_encoder(other, seed=8)
    with pytest.raises(
        IndexingError, match=r"vectors of another model under the name toy_fp32: weights_digest "
    ):
        index(prepared, "synthetic", str(other), options=options)


@pytest.mark.in_turn
@pytest.mark.parametrize("system", ["bm25", "tfidf", "sparse_bm25", "word2vec"])
def test_a_damaged_index_is_never_searched_and_is_built_again(
    prepared: Database, tmp_path: Path, system: str
) -> None:
    options = SystemOptions(tmp_path / "indexes")
    index(prepared, "synthetic", system, options=options)
    files = [path for path in options.index_folder.rglob("*") if path.is_file() and path.name != "files.json"]
    largest = max(files, key=lambda path: path.stat().st_size)
    content = bytearray(largest.read_bytes())
    content[len(content) // 2] ^= 1
    largest.write_bytes(content)
    with pytest.raises(IndexingError, match=rf"is damaged: {largest.name} changed after the build"):
        run(prepared, RunRequest("synthetic", system, options))
    assert index(prepared, "synthetic", system, options=options).added > 0
    assert run(prepared, RunRequest("synthetic", system, options)).hit_count > 0


@pytest.mark.in_turn
@pytest.mark.parametrize("fault", [PermissionError(errno.EACCES, "Permission denied"), KeyboardInterrupt()])
def test_the_folder_of_a_replaced_index_that_stays_is_removed_by_the_next_start(
    prepared: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: BaseException
) -> None:
    def refuse(folder: Path, **others: Any) -> None:
        if folder == replaced:
            raise fault
        remove(folder, **others)

    options = SystemOptions(tmp_path / "indexes")
    index(prepared, "synthetic", "tfidf", options=options)
    (replaced,) = list_folders(options)
    remove = shutil.rmtree
    with prepared.begin() as session:
        session.execute(sa.update(papers).values(title="Another title"))
    with monkeypatch.context() as patched:
        patched.setattr("pinakes.vectors.side_index.shutil.rmtree", refuse)
        with pytest.raises((IndexingError, KeyboardInterrupt)) as told:
            index(prepared, "synthetic", "tfidf", options=options)
    if isinstance(fault, OSError):
        assert "is built, but the index that it replaces cannot be removed: this user" in str(told.value)
    assert len(list_folders(options)) == 2
    assert run(prepared, RunRequest("synthetic", "tfidf", options)).hit_count > 0
    assert index(prepared, "synthetic", "tfidf", options=options).added == 0
    assert replaced not in list_folders(options)
    assert len(list((options.index_folder / "tfidf").iterdir())) == 1


def list_folders(options: SystemOptions) -> list[Path]:
    return sorted((options.index_folder / "tfidf").glob("[!.]*"))
