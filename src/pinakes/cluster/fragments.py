"""Vectors of a set of documents in Parquet files on storage that all machines share, each with its digest.

A folder has a set. A file takes its name, with its number and sha256, when it is whole, and the list of the
files is written last: a set without a list is written again. Who reads a set holds it: it stays.
"""

import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pinakes.errors import IndexingError
from pinakes.faults import told_as
from pinakes.indexers.exact.best import Ties
from pinakes.indexers.exact.passes import Block
from pinakes.indexers.exact.scores import Rows, Vectors
from pinakes.indexers.order import TieRanks
from pinakes.indexers.side_folder import describe_file
from pinakes.matrices import to_lists, to_matrix

FRAGMENT_ROWS: Final = 1 << 16
LIST_FILE: Final = "fragments.json"


class Fragment(NamedTuple):
    """A file of a set: `bytes` of it, its sha256, and how many documents it has."""

    path: str
    bytes: int
    sha256: str
    rows: int


class Documents(NamedTuple):
    """What a fragment holds: rows of the whole set (n,), ranks among equal scores (n,), vectors (n, d)."""

    rows: Rows
    ranks: NDArray[np.uint32]
    vectors: Vectors


class FragmentSet:
    """The fragments of one folder, made by `hold_fragments`."""

    def __init__(self, folder: Path, blocks: Iterable[Block], ties: Ties, rows: int) -> None:
        self._folder, self._blocks, self._ties, self._rows = folder, blocks, ties, rows
        self._listed = _read_list(folder)

    def __iter__(self) -> Iterator[Fragment]:
        """Each fragment; what is not there yet is written before it comes."""
        if self._listed is None:
            written = []
            for fragment in self._write():
                written.append(fragment)
                yield fragment
            self._finish(written)
        else:
            yield from self._listed

    def _write(self) -> Iterator[Fragment]:
        with told_as(IndexingError, f"{self._folder} cannot be written"):
            for path in self._folder.iterdir():
                path.unlink()
            for number, (rows, vectors) in enumerate(_join_blocks(self._blocks, self._rows)):
                table = pa.table(
                    {"row": rows, "rank": self._ties.ranks(rows), "embedding": to_lists(vectors)}
                )
                writing = self._folder / f".{number:05}.writing"
                pq.write_table(
                    table, writing, compression="none", use_dictionary=False, write_page_checksum=True
                )
                described = describe_file(writing)
                path = self._folder / f"fragment-{number:05}-{described['sha256'][:16]}.parquet"
                writing.rename(path)
                yield Fragment(str(path), **described, rows=len(rows))

    def _finish(self, written: list[Fragment]) -> None:
        with told_as(IndexingError, f"{self._folder} cannot be written"):
            writing = self._folder / ".list.writing"
            listed = [{**one._asdict(), "path": Path(one.path).name} for one in written]
            writing.write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
            for path in (*(Path(one.path) for one in written), writing):
                _sync(path)
            writing.rename(self._folder / LIST_FILE)
        self._listed = written


@contextmanager
def hold_fragments(
    folder: Path, blocks: Iterable[Block], ties: TieRanks, rows: int = FRAGMENT_ROWS
) -> Iterator[FragmentSet]:
    """The set in `folder`; of one that is not there whole, the blocks are written, at most `rows` in a file.

    `ties` ranks all documents among equal scores. Raises IndexingError where another process writes the set.
    """
    with told_as(IndexingError, f"{folder} cannot be written"):
        folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder, os.O_RDONLY)
    try:
        _lock(lock, folder)
        yield FragmentSet(folder, blocks, Ties(ties), rows)
    finally:
        os.close(lock)


def read_fragment(fragment: Fragment) -> Documents:
    """What the fragment holds; IndexingError where it is not there, or not as it was written."""
    path = Path(fragment.path)
    try:
        if path.stat().st_size != fragment.bytes:
            raise ValueError(f"{path.stat().st_size} bytes in place of {fragment.bytes}")
        table = pq.read_table(path, page_checksum_verification=True, memory_map=False)
    except FileNotFoundError as error:
        raise IndexingError(f"{path} is not there; expected a folder that all machines share") from error
    except (OSError, ValueError) as error:
        raise IndexingError(
            f"{path} is damaged ({error}); delete its folder, and start the same command again"
        ) from error
    return Documents(table["row"].to_numpy(), table["rank"].to_numpy(), to_matrix(table["embedding"]))


def _lock(lock: int, folder: Path) -> None:
    """Hold the folder alone where it is to be written, with others where it is whole."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _read_list(folder) is not None:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return
    except OSError as error:
        problem = error
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        if _read_list(folder) is not None:
            return
    except OSError as error:
        problem = error
    raise IndexingError(
        f"{folder} is being written by another process; wait for it to end, then start again"
    ) from problem


def _read_list(folder: Path) -> list[Fragment] | None:
    """The fragments of a set that is whole."""
    try:
        listed: list[dict[str, Any]] = json.loads((folder / LIST_FILE).read_text(encoding="utf-8"))
        found = [Fragment(**{**one, "path": str(folder / one["path"])}) for one in listed]
        return found if all(Path(one.path).stat().st_size == one.bytes for one in found) else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _join_blocks(blocks: Iterable[Block], most: int) -> Iterator[Block]:
    """The blocks' documents, `most` in each but the last."""
    waiting: list[Block] = []
    count = 0
    for rows, vectors in blocks:
        start = 0
        while start < len(rows):
            stop = min(len(rows), start + most - count)
            waiting.append(Block(rows[start:stop], vectors[start:stop]))
            count += stop - start
            start = stop
            if count == most:
                yield _join(waiting)
                waiting, count = [], 0
    if waiting:
        yield _join(waiting)


def _join(parts: list[Block]) -> Block:
    rows, vectors = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Block(rows, vectors)


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
