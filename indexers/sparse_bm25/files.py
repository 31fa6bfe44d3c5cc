"""The files of a sparse BM25 index: postings by block, then term; all of them memory-mapped when read.

A block is `block_rows` documents in the order of the corpus. Its runs are its terms, ascending; a run's
postings are its documents, ascending, each with the term's frequency. The arrays are .npy files, the
vocabulary is an Arrow file.
"""

from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import DTypeLike, NDArray

from pinakes.errors import IndexingError

VOCABULARY_FILE: Final = "vocabulary.arrow"
TERMS_AT_ONCE: Final = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """The arrays of an index of n documents, v terms and p postings, in r runs.

    Attributes:
        block_rows: documents of a block; the last may have fewer.
        block_runs: the first run of each block, and r at the end.
        block_postings: the first posting of each block, and p at the end.
        run_terms: the term of each run (r,) int32.
        run_starts: its first posting, counted from the block's first (r,) uint32.
        documents: the document of each posting, counted from the block's first (p,) uint16.
        counts: the term's frequency in it (p,) uint16.
        lengths: terms of each document, exact (n,) int32.
        frequencies: documents that hold the term (v,) int32.
        paper_ids: of each document (n,) int64.
    """

    block_rows: int
    block_runs: NDArray[np.int64]
    block_postings: NDArray[np.int64]
    run_terms: NDArray[np.int32]
    run_starts: NDArray[np.uint32]
    documents: NDArray[np.uint16]
    counts: NDArray[np.uint16]
    lengths: NDArray[np.int32]
    frequencies: NDArray[np.int32]
    paper_ids: NDArray[np.int64]

    @classmethod
    def open(cls, folder: Path, block_rows: int) -> "Postings":
        """The arrays in `folder`, read as they are needed."""
        try:
            names = [field.name for field in fields(cls) if field.name != "block_rows"]
            return cls(block_rows=block_rows, **{name: read_array(folder, name) for name in names})
        except (OSError, ValueError) as problem:
            raise IndexingError(f"{folder} cannot be read ({problem}); build the index again") from problem


def cut_postings(postings: Postings, blocks: tuple[int, int]) -> Postings:
    """The documents of the blocks from the first to before the second, with the frequencies of the whole."""
    first, stop = blocks
    rows = slice(first * postings.block_rows, stop * postings.block_rows)
    return replace(
        postings,
        block_runs=postings.block_runs[first : stop + 1],
        block_postings=postings.block_postings[first : stop + 1],
        lengths=postings.lengths[rows],
        paper_ids=postings.paper_ids[rows],
    )


class GrowingArray:
    """A one-dimensional .npy file that is written part by part."""

    def __init__(self, path: Path, dtype: DTypeLike) -> None:
        self._file: BinaryIO = path.open("wb")
        self._dtype = np.dtype(dtype)
        self.length = 0
        self._write_header()

    def append(self, values: NDArray[Any]) -> None:
        """Write more values at the end."""
        self._file.write(np.ascontiguousarray(values, dtype=self._dtype).data)
        self.length += len(values)

    def _write_header(self) -> None:
        header = {"descr": self._dtype.str, "fortran_order": False, "shape": (self.length,)}
        np.lib.format.write_array_header_1_0(self._file, header)

    def __enter__(self) -> "GrowingArray":
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        # numpy leaves room in the header for the length to grow, so that it has the same size again.
        try:
            self._file.seek(0)
            self._write_header()
        finally:
            self._file.close()


class Vocabulary:
    """The terms of an index, memory-mapped; a term's id is its place."""

    def __init__(self, terms: pa.ChunkedArray) -> None:
        self._terms = terms
        self._known: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._terms)

    @classmethod
    def open(cls, folder: Path) -> "Vocabulary":
        """The vocabulary in `folder`."""
        with pa.memory_map(str(folder / VOCABULARY_FILE)) as source:
            return cls(pa.ipc.open_file(source).read_all()["term"])

    def find(self, terms: set[str]) -> dict[str, int]:
        """The id of each of the terms, -1 for one that no document has."""
        unknown = sorted(terms - self._known.keys())
        if unknown:
            self._known |= dict.fromkeys(unknown, -1)
            offset = 0
            for chunk in self._terms.chunks:
                places = pc.index_in(chunk, value_set=pa.array(unknown, pa.string()))
                for place in np.flatnonzero(places.is_valid().to_numpy(zero_copy_only=False)):
                    self._known[unknown[places[int(place)].as_py()]] = offset + int(place)
                offset += len(chunk)
        return {term: self._known[term] for term in terms}

    def spell(self, ids: NDArray[np.integer[Any]]) -> list[str]:
        """The terms of some ids, in their order."""
        return [str(term) for term in self._terms.take(pa.array(ids, pa.int64())).to_pylist()]

    def rank(self, ids: NDArray[np.int32]) -> NDArray[np.int64]:
        """The place of each of some distinct terms among them, by their spelling (n,)."""
        spelt = self._terms.take(pa.array(ids, pa.int64()))
        ranks = np.empty(len(ids), np.int64)
        ranks[pc.array_sort_indices(spelt.combine_chunks()).to_numpy()] = np.arange(len(ids))
        return ranks


def write_vocabulary(folder: Path, terms: list[str]) -> None:
    """Write the terms, in the order of their ids."""
    schema = pa.schema([("term", pa.string())])
    with pa.OSFile(str(folder / VOCABULARY_FILE), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        for start in range(0, len(terms), TERMS_AT_ONCE):
            writer.write(pa.record_batch([pa.array(terms[start : start + TERMS_AT_ONCE])], schema=schema))


def find_ends(counts: NDArray[np.integer] | list[int]) -> NDArray[np.int64]:
    """Where each of some parts starts, and the end of the last, from how long they are (n,): (n + 1,).

    >>> find_ends(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))


def read_array(folder: Path, name: str) -> NDArray[Any]:
    """One .npy file of the folder, read as it is needed."""
    mapped = np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
    # A plain view of the map: numpy's own class for maps takes ten times as long to slice.
    array: NDArray[Any] = mapped.view(np.ndarray)
    return array
