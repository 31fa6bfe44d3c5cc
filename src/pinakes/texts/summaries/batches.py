"""Ids cut into batches."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def cut(
    ids: pa.ChunkedArray, sizes: pa.ChunkedArray, ids_per_batch: int, size_per_batch: int
) -> list[npt.NDArray[np.int64]]:
    """The ids in batches, in their order, each of at most so many ids and of that size, or of one id.

    >>> columns = [pa.chunked_array([column]) for column in ([1, 2, 3, 4], [5, 5, 9, 1])]
    >>> [batch.tolist() for batch in cut(*columns, 2, 9)]
    [[1], [2], [3], [4]]
    >>> [batch.tolist() for batch in cut(*columns, 2, 100)]
    [[1, 2], [3, 4]]
    """
    batches: list[list[int]] = []
    size_so_far = 0
    for id_, size in zip(ids.to_pylist(), sizes.to_pylist(), strict=True):
        size_so_far += size
        if not batches or len(batches[-1]) == ids_per_batch or size_so_far > size_per_batch:
            batches.append([])
            size_so_far = size
        batches[-1].append(id_)
    return [np.array(batch, dtype=np.int64) for batch in batches]
