"""Scores of (query, document) pairs in an order of operations that never changes.

A matrix product rounds differently with the shape of its blocks and the number of threads. What is ranked
is therefore scored here: products in float64, added up in one fixed tree, rounded to float32 at the end.
The same two vectors give the same bits in any block, beside any neighbours. Leaves out: search.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import IndexingError, UnknownNameError

Distance = Literal["cosine", "l2", "inner_product"]
Vectors = NDArray[np.float32]
Rows = NDArray[np.int64]

NUMBERS_AT_ONCE = 1 << 18  # float64: 2 MiB for each of a few arrays, near to the processor


@dataclass(frozen=True, slots=True, eq=False)
class CheckedVectors:
    """Vectors (n, d) that are finite, and their lengths (n,) from the same fixed order of operations."""

    values: Vectors
    lengths: NDArray[np.float64]


def score_pairs(queries: Vectors, documents: Vectors, pairs: Rows, distance: Distance) -> Vectors:
    """The exact scores (m,) of `pairs` (m, 2): a row of `queries` (q, d) and one of `documents` (n, d).

    Higher is better: the cosine, the inner product, or minus the Euclidean distance. The cosine with a
    vector of zeros is 0. Raises `IndexingError` for numbers that are not finite and for shapes that differ.
    """
    require_distance(distance)
    left, right = check_vectors(queries, "query"), check_vectors(documents, "document")
    require_width(left, right)
    return score_rows(left, right, pairs[:, 0], pairs[:, 1], distance)


def score_rows(
    queries: CheckedVectors, documents: CheckedVectors, query: Rows, document: Rows, distance: Distance
) -> Vectors:
    """As `score_pairs`, for vectors that have been checked; score i is of `query[i]` with `document[i]`."""
    scores = np.empty(len(query), dtype=np.float32)
    for part in _parts(len(query), queries.values.shape[1]):
        left, right = _columns(queries.values[query[part]]), _columns(documents.values[document[part]])
        if distance == "l2":
            # Adding zero turns -0.0 into 0.0.
            scores[part] = -np.sqrt(sum_tree((left - right) ** 2)) + 0.0
            continue
        product = sum_tree(left * right)
        if distance == "cosine":
            lengths = queries.lengths[query[part]] * documents.lengths[document[part]]
            product = product / np.where(lengths > 0, lengths, 1.0)
        scores[part] = product + 0.0
    return scores


def check_vectors(vectors: Vectors, kind: str, first_row: int = 0) -> CheckedVectors:
    """The array (n, d) with its lengths; `IndexingError` names the first row that is not finite."""
    array = np.ascontiguousarray(vectors, dtype=np.float32)
    if array.ndim != 2:
        raise IndexingError(f"{kind} vectors have the shape {array.shape}; expected (rows, dimensions)")
    lengths = np.empty(len(array), dtype=np.float64)
    for part in _parts(*array.shape):
        lengths[part] = np.sqrt(sum_tree(_columns(array[part]) ** 2))
    finite = np.isfinite(lengths)  # a square of a float32 number cannot overflow a float64
    if not finite.all():
        raise IndexingError(
            f"{kind} vector {first_row + int(np.argmin(finite))} is not finite; expected float32 numbers. "
            "Encode or import it again"
        )
    return CheckedVectors(array, lengths)


def require_width(queries: CheckedVectors, documents: CheckedVectors) -> None:
    """Raise `IndexingError` unless both have the same number of dimensions."""
    if queries.values.shape[1] != documents.values.shape[1]:
        raise IndexingError(
            f"queries have {queries.values.shape[1]} dimensions and documents {documents.values.shape[1]}; "
            "expected vectors of one encoder"
        )


def require_distance(distance: str) -> None:
    """Raise `UnknownNameError` unless `distance` is one that can be searched."""
    if distance not in get_args(Distance):
        raise UnknownNameError("distance", distance, list(get_args(Distance)))


def sum_tree(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sums over the first axis, halved again and again, so that each column adds up in one order.

    Unlike `np.sum`, whose order depends on the array's layout, and so on the columns beside it.

    >>> sum_tree(np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])).tolist()
    [6.0, 60.0]
    """
    if len(columns) == 0:
        return np.zeros(columns.shape[1:])
    while (width := len(columns)) > 1:
        half = width // 2
        folded = columns[:half] + columns[half : 2 * half]
        if width % 2:
            folded[0] += columns[-1]
        columns = folded
    total: NDArray[np.float64] = columns[0]
    return total


def _parts(rows: int, width: int) -> Iterator[slice]:
    step = max(1, NUMBERS_AT_ONCE // max(1, width))
    return (slice(start, start + step) for start in range(0, rows, step))


def _columns(vectors: Vectors) -> NDArray[np.float64]:
    return np.ascontiguousarray(vectors.T, dtype=np.float64)
