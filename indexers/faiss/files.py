"""The files of a Faiss index's folder, and what Faiss is handed: blocks of prepared vectors, some threads."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import faiss
import numpy as np

from pinakes.indexers.exact.scores import Distance, Rows, Vectors, check_vectors

KIND: Final = "faiss"
IDS_FILE: Final = "ids.npy"
VECTORS_FILE: Final = "vectors.f32"
INDEX_FILE: Final = "index.faiss"
ADDED_AT_ONCE: Final = 1 << 16


def open_vectors(folder: Path, rows: int, dimensions: int) -> Vectors:
    """The vectors (n, d) that were written, mapped: read from the disk as they are looked at."""
    return np.memmap(folder / VECTORS_FILE, dtype="<f4", mode="r", shape=(rows, dimensions))


def prepare(vectors: Vectors, distance: Distance) -> Vectors:
    """What Faiss compares: vectors of length 1 (or 0) for the cosine, else the vectors themselves."""
    checked = check_vectors(vectors, "vector")
    if distance != "cosine":
        return checked.values
    lengths = np.where(checked.lengths > 0, checked.lengths, 1.0)[:, None]
    scaled: Vectors = (checked.values / lengths).astype(np.float32)
    return scaled


@contextmanager
def faiss_threads(count: int) -> Iterator[None]:
    """Faiss with that many threads; afterwards with as many as before."""
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(max(1, count))
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def read_blocks(vectors: Vectors, rows: Rows | None = None) -> Iterator[Vectors]:
    """The vectors, or those of the rows, in blocks of `ADDED_AT_ONCE`."""
    for start in range(0, len(vectors) if rows is None else len(rows), ADDED_AT_ONCE):
        part = slice(start, start + ADDED_AT_ONCE)
        yield np.array(vectors[part] if rows is None else vectors[rows[part]])
