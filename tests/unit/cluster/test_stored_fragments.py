"""Fragments and copies of indexes on an object store: what a list names counts, whoever else writes."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pinakes.cluster.copies import copy_folder, send_folder
from pinakes.cluster.fragment_list import LIST_FILE, Fragment
from pinakes.cluster.fragments import hold_fragments, read_fragment
from pinakes.errors import IndexingError
from pinakes.indexers.exact.passes import Block
from pinakes.indexers.side_folder import SEAL_FILE, whole_folder
from tests.stores import ObjectStore
from tests.unit.cluster.test_fragments import ROWS, TIES, VECTORS, read_blocks


def write(place: str, blocks: Iterator[Block] | None = None) -> list[Fragment]:
    with hold_fragments(place, read_blocks() if blocks is None else blocks, TIES, 20) as fragments:
        return list(fragments)


def describe(written: list[Fragment]) -> list[Fragment]:
    return [one._replace(path="") for one in written]


def test_a_set_is_that_of_a_disk_and_is_used_again(store: ObjectStore, tmp_path: Path) -> None:
    place = store.address(f"{tmp_path.name}/a set ü")
    written = write(place)
    assert describe(written) == describe(write(str(tmp_path / "set")))
    parts = [read_fragment(one) for one in written]
    rows = np.concatenate([part.rows for part in parts])
    assert sorted(rows.tolist()) == list(range(ROWS))
    np.testing.assert_array_equal(np.concatenate([part.vectors for part in parts]), VECTORS[rows])
    with hold_fragments(place, read_blocks(0), TIES) as fragments:
        assert list(fragments) == list(fragments) == written


@pytest.mark.parametrize("harm", ["killed", "no_list", "no_json", "lost_file", "cut_file"])
def test_a_set_that_is_not_whole_is_written_again(harm: str, store: ObjectStore, tmp_path: Path) -> None:
    key = f"{tmp_path.name}/set"
    place = store.address(key)
    if harm == "killed":
        with pytest.raises(KeyboardInterrupt):
            write(place, read_blocks(30))
        assert LIST_FILE not in store.list_files(key)
        store.write(f"{key}/fragment-00001-0000000000000000.parquet", b"half of a file")
    else:
        first = Path(write(place)[0].path.partition("?")[0]).name
        if harm == "no_list":
            store.remove(f"{key}/{LIST_FILE}")
        elif harm == "no_json":
            store.write(f"{key}/{LIST_FILE}", b"[")
        elif harm == "lost_file":
            store.remove(f"{key}/{first}")
        else:
            store.write(f"{key}/{first}", store.read(f"{key}/{first}")[:-1])
    again = write(place)
    assert describe(again) == describe(write(str(tmp_path / "other")))
    assert len(store.list_files(key)) == 4
    assert all(len(read_fragment(one).rows) == one.rows for one in again)


def test_other_bytes_than_those_of_the_list_are_refused(store: ObjectStore, tmp_path: Path) -> None:
    key = f"{tmp_path.name}/set"
    written = write(store.address(key))
    names = [one for one in store.list_files(key) if one != LIST_FILE]
    content = bytearray(store.read(f"{key}/{names[0]}"))
    content[len(content) // 2] ^= 1
    store.write(f"{key}/{names[0]}", bytes(content))
    with pytest.raises(IndexingError, match="is damaged"):
        read_fragment(written[0])
    store.remove(f"{key}/{names[0]}")
    with pytest.raises(IndexingError, match="is not there"):
        read_fragment(written[0])


def test_two_who_write_one_set_at_once_do_no_harm(store: ObjectStore, tmp_path: Path) -> None:
    place = store.address(f"{tmp_path.name}/set")
    with (
        hold_fragments(place, read_blocks(), TIES, 20) as one,
        hold_fragments(place, read_blocks(), TIES, 20) as other,
    ):
        first, second = iter(one), iter(other)
        written = [next(first), next(second), next(second), next(first), *second, *first]
    assert len(set(written)) == 3
    assert write(place, read_blocks(0)) == sorted(set(written))


def test_who_loses_files_to_another_set_says_so(store: ObjectStore, tmp_path: Path) -> None:
    key = f"{tmp_path.name}/set"
    place = store.address(key)
    with hold_fragments(place, read_blocks(), TIES, 20) as one:
        first = iter(one)
        next(first)
        with hold_fragments(place, read_blocks(), TIES, 25) as other:  # as another version would
            list(other)
        with pytest.raises(IndexingError, match="another process has written"):
            list(first)
    assert describe(write(place)) == describe(write(str(tmp_path / "other")))


@pytest.fixture
def index(tmp_path: Path) -> Path:
    with whole_folder(tmp_path / "index") as folder:
        (folder / "a.npy").write_bytes(b"a" * 1000)
        (folder / "b.npy").write_bytes(b"")
    return tmp_path / "index"


def test_an_index_is_sent_once_and_copied_once(
    store: ObjectStore, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = store.address(tmp_path.name)
    address = send_folder(index, place)
    copied = copy_folder(address, tmp_path / "cache")
    assert {one.name: one.read_bytes() for one in copied.iterdir() if not one.name.startswith(".")} == {
        one.name: one.read_bytes() for one in index.iterdir() if not one.name.startswith(".")
    }
    monkeypatch.setattr("pinakes.writing.folders.StoredFolder.put", None)
    assert send_folder(index, place) == address
    monkeypatch.setattr("pinakes.cluster.copies._copy_file", None)
    assert copy_folder(address, tmp_path / "cache") == copied


def test_an_index_that_is_not_whole_on_the_store_is_not_taken(
    store: ObjectStore, index: Path, tmp_path: Path
) -> None:
    place = store.address(tmp_path.name)
    address = send_folder(index, place)
    key = f"{tmp_path.name}/{Path(address.partition('?')[0]).name}"
    store.write(f"{key}/a.npy", b"b" * 1000)
    with pytest.raises(IndexingError, match=r"a\.npy in .* is damaged"):
        copy_folder(address, tmp_path / "cache")
    # What was damaged is gone, so that it is sent again.
    with pytest.raises(IndexingError, match=r"has lost a\.npy"):
        copy_folder(address, tmp_path / "cache")
    assert send_folder(index, place) == address
    store.remove(f"{key}/{SEAL_FILE}")
    with pytest.raises(IndexingError, match="is not there whole"):
        copy_folder(address, tmp_path / "cache")
    send_folder(index, place)
    assert json.loads((copy_folder(address, tmp_path / "cache") / SEAL_FILE).read_text()).keys() == {
        "a.npy",
        "b.npy",
    }
    (index / "a.npy").write_bytes(b"c" * 1000)
    with pytest.raises(IndexingError, match="is damaged"):
        send_folder(index, store.address(f"{tmp_path.name}/other"))
