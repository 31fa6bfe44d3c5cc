"""Vectors in files: what was written is read, half a folder is none, a changed byte is found."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pinakes.errors import IndexingError
from pinakes.indexers.exact.search import search_exact
from pinakes.indexers.vector_files import open_vectors, write_vectors

Block = tuple[NDArray[np.int64], NDArray[np.float32]]


def make_blocks(sizes: tuple[int, ...] = (3, 0, 5)) -> list[Block]:
    random = np.random.default_rng(1)
    return [
        (random.integers(0, 2**60, size), random.standard_normal((size, 4)).astype(np.float32))
        for size in sizes
    ]


def test_blocks_are_read_as_they_were_written_and_by_numpy_alone(tmp_path: Path) -> None:
    blocks = make_blocks()
    assert write_vectors(tmp_path / "v", iter(blocks), 4) == 8
    found = open_vectors(tmp_path / "v")
    assert found.ids.tolist() == [value for ids, _ in blocks for value in ids.tolist()]
    assert found.vectors.tobytes() == b"".join(vectors.tobytes() for _, vectors in blocks)
    assert isinstance(found.vectors, np.memmap)
    assert np.load(tmp_path / "v" / "vectors.npy").shape == (8, 4)
    assert sorted(path.name for path in (tmp_path / "v").iterdir()) == [
        "files.json",
        "ids.npy",
        "parameters.json",
        "vectors.npy",
    ]


def test_no_rows_are_written_and_read(tmp_path: Path) -> None:
    assert write_vectors(tmp_path / "v", [], 4) == 0
    assert open_vectors(tmp_path / "v").vectors.shape == (0, 4)


def test_files_are_searched_like_the_array_in_memory(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    documents = random.standard_normal((900, 24)).astype(np.float32)
    queries = random.standard_normal((50, 24)).astype(np.float32)
    write_vectors(tmp_path / "v", [(np.arange(900), documents)], 24)
    mapped = search_exact(queries, open_vectors(tmp_path / "v").vectors, 7)
    whole = search_exact(queries, documents, 7)
    assert mapped[0].tolist() == whole[0].tolist()
    assert mapped[1].tobytes() == whole[1].tobytes()


def test_a_write_that_fails_leaves_nothing_and_keeps_what_was_there(tmp_path: Path) -> None:
    def broken() -> Iterator[Block]:
        yield make_blocks()[0]
        raise KeyboardInterrupt

    folder = tmp_path / "v"
    with pytest.raises(KeyboardInterrupt):
        write_vectors(folder, broken(), 4)
    assert not folder.exists()
    write_vectors(folder, make_blocks((2,)), 4)
    with pytest.raises(KeyboardInterrupt):
        write_vectors(folder, broken(), 4)
    assert open_vectors(folder).vectors.shape == (2, 4)


@pytest.mark.parametrize("name", ["vectors.npy", "ids.npy", "parameters.json"])
def test_a_changed_byte_is_found(tmp_path: Path, name: str) -> None:
    write_vectors(tmp_path / "v", make_blocks(), 4)
    path = tmp_path / "v" / name
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    with pytest.raises(IndexingError, match="damaged"):
        open_vectors(tmp_path / "v")


def test_a_block_of_another_shape_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IndexingError, match=r"the block at row 3 .*\(5, 4\).*expected \(n,\) and \(n, 4\)"):
        write_vectors(tmp_path / "v", [make_blocks()[0], (np.arange(4), make_blocks()[2][1])], 4)
