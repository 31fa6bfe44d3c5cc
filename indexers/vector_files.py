"""Vectors in a folder of files that are mapped into memory: written block by block, read without copying.

`vectors.npy` holds the vectors (n, d) in float32 and `ids.npy` one 64-bit id for each; any tool that reads
numpy's format reads them. The folder is whole or not there, and sealed with a digest of each file.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from pinakes.errors import IndexingError
from pinakes.indexers.side_folder import read_parameters, whole_folder, write_parameters

KIND: Final = "vectors"
VECTORS_FILE: Final = "vectors.npy"
IDS_FILE: Final = "ids.npy"
_HEADER_BYTES: Final = 128

Ids = NDArray[np.int64]
Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class VectorFiles:
    """The ids (n,) and the vectors (n, d), both read from their files as they are used."""

    ids: Ids
    vectors: Vectors


def write_vectors(folder: Path, blocks: Iterable[tuple[Ids, Vectors]], dimensions: int) -> int:
    """Write the blocks in order and return the number of rows; memory holds one block.

    Raises IndexingError, and leaves what was at `folder`, if a block is not (n,) ids and (n, `dimensions`).
    """
    rows = 0
    with whole_folder(folder) as building:
        with (building / VECTORS_FILE).open("wb") as vectors, (building / IDS_FILE).open("wb") as ids:
            # The number of rows is known at the end, so the headers are written then.
            for file in (vectors, ids):
                file.write(bytes(_HEADER_BYTES))
            for block_ids, block in blocks:
                _require_shape(block_ids, block, dimensions, rows)
                vectors.write(np.ascontiguousarray(block, dtype="<f4").data)
                ids.write(np.ascontiguousarray(block_ids, dtype="<i8").data)
                rows += len(block)
            _write_header(vectors, "<f4", (rows, dimensions))
            _write_header(ids, "<i8", (rows,))
        write_parameters(building, {"kind": KIND, "rows": rows, "dimensions": dimensions})
    return rows


def open_vectors(folder: Path) -> VectorFiles:
    """The ids and vectors of `folder`, mapped read-only.

    Raises IndexingError if the folder is not whole or a file changed after it was written. Reads each file
    once for that, at about the speed of the disk.
    """
    saved = read_parameters(folder, KIND)
    shape = (saved["rows"], saved["dimensions"])
    found = VectorFiles(_map(folder / IDS_FILE), _map(folder / VECTORS_FILE))
    if found.vectors.shape != shape or found.ids.shape != shape[:1]:
        raise IndexingError(
            f"{folder} does not hold {shape[0]} vectors of {shape[1]} dimensions; write it again"
        )
    return found


def _map(path: Path) -> NDArray[Any]:
    # A file of no rows has nothing that could be mapped.
    empty = path.stat().st_size <= _HEADER_BYTES
    return np.load(path, mmap_mode=None if empty else "r", allow_pickle=False)  # type: ignore[no-any-return]


def _require_shape(ids: Ids, block: Vectors, dimensions: int, rows: int) -> None:
    if ids.ndim != 1 or block.shape != (len(ids), dimensions):
        raise IndexingError(
            f"the block at row {rows} has ids of shape {ids.shape} and vectors of shape {block.shape}; "
            f"expected (n,) and (n, {dimensions})"
        )


def _write_header(file: BinaryIO, kind: str, shape: tuple[int, ...]) -> None:
    text = repr({"descr": kind, "fortran_order": False, "shape": shape})
    magic = npy.magic(1, 0)
    room = _HEADER_BYTES - len(magic) - 2
    file.seek(0)
    file.write(magic + room.to_bytes(2, "little") + text.ljust(room - 1).encode("latin-1") + b"\n")
