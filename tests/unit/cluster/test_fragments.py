"""Fragments of vectors: whole or not there, used again, and refused where they are damaged."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from pinakes.cluster.fragment_list import LIST_FILE, Fragment
from pinakes.cluster.fragments import hold_fragments, read_fragment
from pinakes.errors import IndexingError
from pinakes.indexers.exact.passes import Block

ROWS = 50
VECTORS = np.random.default_rng(1).standard_normal((ROWS, 4)).astype(np.float32)
TIES = np.random.default_rng(2).permutation(ROWS)


def read_blocks(stop_after: int = ROWS) -> Iterator[Block]:
    order = np.random.default_rng(3).permutation(ROWS)
    for start in range(0, ROWS, 7):
        if start >= stop_after:
            raise KeyboardInterrupt
        rows = order[start : start + 7]
        yield Block(rows, VECTORS[rows])


def write(folder: Path, rows: int = 20) -> list[Fragment]:
    with hold_fragments(folder, read_blocks(), TIES, rows) as fragments:
        return list(fragments)


def test_every_document_is_in_one_fragment(tmp_path: Path) -> None:
    written = write(tmp_path / "set")
    assert [one.rows for one in written] == [20, 20, 10]
    parts = [read_fragment(one) for one in written]
    rows = np.concatenate([part.rows for part in parts])
    assert sorted(rows.tolist()) == list(range(ROWS))
    np.testing.assert_array_equal(np.concatenate([part.vectors for part in parts]), VECTORS[rows])
    np.testing.assert_array_equal(np.concatenate([part.ranks for part in parts]), TIES[rows])


def test_what_is_there_is_not_written_again(tmp_path: Path) -> None:
    written = write(tmp_path / "set")
    with hold_fragments(tmp_path / "set", read_blocks(0), TIES) as fragments:
        assert list(fragments) == list(fragments) == written


@pytest.mark.parametrize("harm", ["half_read", "no_list", "short_list", "cut_file", "lost_file", "no_json"])
def test_a_set_that_is_not_whole_is_written_again(harm: str, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    if harm == "half_read":
        with pytest.raises(KeyboardInterrupt), hold_fragments(folder, read_blocks(30), TIES, 20) as fragments:
            list(fragments)
        assert list(folder.glob("fragment-*"))
    else:
        first = Path(write(folder)[0].path)
        harms: dict[str, Callable[[], object]] = {
            "no_list": (folder / LIST_FILE).unlink,
            "short_list": lambda: (folder / LIST_FILE).write_text(json.dumps([{"path": first.name}])),
            "cut_file": lambda: first.write_bytes(first.read_bytes()[:-1]),
            "lost_file": first.unlink,
            "no_json": lambda: (folder / LIST_FILE).write_text("["),
        }
        harms[harm]()
    again, other = write(folder), write(tmp_path / "other")
    assert [one._replace(path="") for one in again] == [one._replace(path="") for one in other]
    assert len(list(folder.iterdir())) == 4


def test_a_damaged_fragment_is_refused(tmp_path: Path) -> None:
    (first, *_) = write(tmp_path / "set")
    path = Path(first.path)
    content = bytearray(path.read_bytes())
    middle = content.find(VECTORS[read_fragment(first).rows[0]].tobytes())
    content[middle] ^= 1
    path.write_bytes(content)
    with pytest.raises(IndexingError, match="is damaged"):
        read_fragment(first)
    path.unlink()
    with pytest.raises(IndexingError, match="a folder that all machines share"):
        read_fragment(first)


def test_a_set_is_written_by_one_and_read_by_many(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    with (
        hold_fragments(folder, read_blocks(), TIES),
        pytest.raises(IndexingError, match="being written by another process"),
        hold_fragments(folder, read_blocks(), TIES),
    ):
        pass
    write(folder)
    with hold_fragments(folder, read_blocks(0), TIES) as one, hold_fragments(folder, [], TIES) as other:
        assert list(one) == list(other)
