"""Vectors as a numpy matrix (n, d) and as an Arrow column of lists: converted here and nowhere else."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def to_matrix(column: Any) -> NDArray[np.float32]:
    """The matrix of an Arrow column of lists of one size, in float32; copied only where it must be.

    >>> to_matrix(pa.chunked_array([to_lists(np.float32([[1, 2], [3, 4]]))]))
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    lists = _join_chunks(column) if isinstance(column, pa.ChunkedArray) else column
    values = lists.flatten().to_numpy(zero_copy_only=False).astype(np.float32, copy=False)
    matrix: NDArray[np.float32] = values.reshape(len(lists), column.type.list_size)
    return matrix


def to_lists(matrix: NDArray[Any], missing: Any = None) -> Any:
    """The Arrow array of lists of a matrix's rows; `missing` (n,) says which are null."""
    return pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel()), matrix.shape[1], mask=missing)


def _join_chunks(column: Any) -> Any:
    # Arrow copies even one chunk.
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
