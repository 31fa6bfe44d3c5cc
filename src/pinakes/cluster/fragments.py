"""Vectors of a set of documents in Parquet files on storage that all machines share, each with its digest.

A folder has a set. A file takes its name, with its number and sha256, when it is whole, and the list of the
files is written last: a set without a list is written again. Who reads a set holds it: it stays. On an object
store nobody can hold it: two who write the same set write the same files, and remove what no list names last.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pinakes.cluster.fragment_list import LIST_FILE, Fragment, WholeSet, describe_set, read_list
from pinakes.errors import IndexingError
from pinakes.faults import told_as
from pinakes.indexers.exact.best import Ties
from pinakes.indexers.exact.passes import Block
from pinakes.indexers.exact.scores import Rows, Vectors
from pinakes.indexers.order import TieRanks
from pinakes.indexers.side_folder import describe_file
from pinakes.matrices import to_lists, to_matrix
from pinakes.writing.folders import Folder, LocalFolder, join_address, open_folder, split_address

FRAGMENT_ROWS: Final = 1 << 16


class Documents(NamedTuple):
    """What a fragment holds: rows of the whole set (n,), ranks among equal scores (n,), vectors (n, d)."""

    rows: Rows
    ranks: NDArray[np.uint32]
    vectors: Vectors


class FragmentSet:
    """The fragments of one folder, made by `hold_fragments`."""

    def __init__(self, folder: Folder, blocks: Iterable[Block], ties: Ties, rows: int) -> None:
        self._folder, self._blocks, self._ties, self._rows = folder, blocks, ties, rows
        self._listed = read_list(folder)

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

    def describe(self) -> WholeSet | None:
        """What the set is, once it is whole."""
        return None if self._listed is None else describe_set(self._folder, self._listed)

    def _write(self) -> Iterator[Fragment]:
        folder = self._folder
        with told_as(IndexingError, f"{folder.address} cannot be written"):
            if folder.renames:
                for name in folder.list_files():
                    folder.remove(name)
            for number, (rows, vectors) in enumerate(_join_blocks(self._blocks, self._rows)):
                table = pa.table(
                    {"row": rows, "rank": self._ties.ranks(rows), "embedding": to_lists(vectors)}
                )
                with folder.make_file(f"{number:05}") as made:
                    pq.write_table(
                        table, made, compression="none", use_dictionary=False, write_page_checksum=True
                    )
                    described = describe_file(made)
                    name = f"fragment-{number:05}-{described['sha256'][:16]}.parquet"
                    folder.put(made, name)
                yield Fragment(join_address(folder.address, name), **described, rows=len(rows))

    def _finish(self, written: list[Fragment]) -> None:
        folder = self._folder
        with told_as(IndexingError, f"{folder.address} cannot be written"):
            named = {split_address(one.path)[1]: one for one in written}
            for name in named:
                folder.sync(name)
            listed = [{**one._asdict(), "path": name} for name, one in named.items()]
            folder.write_file(LIST_FILE, (json.dumps(listed, indent=1) + "\n").encode())
            if not folder.renames:
                self._remove_others(named)
        self._listed = written

    def _remove_others(self, named: Mapping[str, Fragment]) -> None:
        """Remove what the list does not name; `IndexingError` where somebody has removed what it does."""
        found = self._folder.list_files()
        if any(found.get(name) != one.bytes for name, one in named.items()):
            raise IndexingError(
                f"another process has written to {self._folder.address} meanwhile; wait for it to end, then "
                "start again"
            )
        for name in found.keys() - named.keys() - {LIST_FILE}:
            self._folder.remove(name)


@contextmanager
def hold_fragments(
    place: str | Path, blocks: Iterable[Block], ties: TieRanks, rows: int = FRAGMENT_ROWS
) -> Iterator[FragmentSet]:
    """The set at a path or an address; of one that is not whole, the blocks are written, `rows` in each file.

    `ties` ranks all documents among equal scores. Raises IndexingError where another process writes the set.
    """
    folder = open_folder(place)
    with told_as(IndexingError, f"{folder.address} cannot be written"):
        folder.prepare()
    with _hold(folder):
        yield FragmentSet(folder, blocks, Ties(ties), rows)


def read_fragment(fragment: Fragment) -> Documents:
    """What the fragment holds; IndexingError where it is not there, or not as it was written."""
    place, name = split_address(fragment.path)
    folder = open_folder(place)
    try:
        with folder.telling():
            table = pq.read_table(_open_fragment(folder, name, fragment), page_checksum_verification=True)
    except FileNotFoundError as error:
        raise IndexingError(
            f"{fragment.path} is not there; expected a folder that all machines share"
        ) from error
    except (OSError, ValueError) as error:
        raise IndexingError(
            f"{fragment.path} is damaged ({error}); delete its folder, and start the same command again"
        ) from error
    return Documents(table["row"].to_numpy(), table["rank"].to_numpy(), to_matrix(table["embedding"]))


def _open_fragment(folder: Folder, name: str, fragment: Fragment) -> pa.NativeFile:
    """The file; of one that comes over the network all bytes are compared with the list."""
    stream = folder.open_file(name)
    if (found := stream.size()) != fragment.bytes:
        raise ValueError(f"{found} bytes in place of {fragment.bytes}")
    if folder.renames:
        return stream
    with stream:
        content = stream.read_buffer()
    if hashlib.sha256(content).hexdigest() != fragment.sha256:
        raise ValueError("other bytes than those that were written")
    return pa.BufferReader(content)


@contextmanager
def _hold(folder: Folder) -> Iterator[None]:
    """Hold a folder of a file system alone where it is to be written, with others where it is whole."""
    if not isinstance(folder, LocalFolder):
        yield
        return
    lock = os.open(folder.path, os.O_RDONLY)
    try:
        _lock(lock, folder)
        yield
    finally:
        os.close(lock)


def _lock(lock: int, folder: Folder) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if read_list(folder) is not None:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return
    except OSError as error:
        problem = error
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        if read_list(folder) is not None:
            return
    except OSError as error:
        problem = error
    raise IndexingError(
        f"{folder.address} is being written by another process; wait for it to end, then start again"
    ) from problem


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
