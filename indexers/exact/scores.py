"""Scores of (query, document) pairs in an order of operations that never changes.

A matrix product rounds differently with the shape of its blocks and the number of threads. What is ranked
is therefore scored here: products in float64, added up in one fixed tree, rounded to float32 at the end.
The same two vectors give the same bits in any block, beside any neighbours.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from pinakes.errors import IndexingError, UnknownNameError
from pinakes.indexers.names import DISTANCES, Distance
from pinakes.jit import jit, jit_in_any_order
from pinakes.kept_threads import run_in_threads

Vectors = NDArray[np.float32]
Rows = NDArray[np.int64]
Sums = NDArray[np.float64]

MIN_SHARE: Final = 4096  # rows that are worth a thread


@dataclass(frozen=True, slots=True, eq=False)
class CheckedVectors:
    """Vectors (n, d) that are finite, and their lengths (n,) from the same fixed order of operations."""

    values: Vectors
    lengths: NDArray[np.float64]

    def directions(self) -> NDArray[np.float64]:
        """The vectors over their lengths (n, d); zeros stay zeros."""
        directions: NDArray[np.float64] = self.values / np.where(self.lengths > 0, self.lengths, 1.0)[:, None]
        return directions


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
    query, document = (np.ascontiguousarray(rows, dtype=np.int64) for rows in (query, document))
    left, right = _see(queries.values), _see(documents.values)
    lengths = queries.lengths, documents.lengths
    scores, unsure = np.empty(len(query), dtype=np.float32), np.empty(len(query), dtype=np.int64)
    products, width, kind = np.empty(len(query)), left.shape[1], DISTANCES.index(distance)
    multiply_pairs(left, right, query, document, products)
    found = round_products(products, width, *lengths, query, document, kind, scores, unsure)
    if found:
        again, exact = unsure[:found], np.empty(found, dtype=np.float32)
        score_into(left, right, *lengths, query[again], document[again], kind, exact)
        scores[again] = exact
    return scores


def _see(values: Vectors) -> Vectors:
    """The numbers, not to be written to: as those of a file are, for which kernels are compiled already."""
    seen = values.view()
    seen.flags.writeable = False
    return seen


@jit_in_any_order
def _multiply_one(query: Vectors, document: Vectors) -> float:
    product = 0.0
    for i in range(len(query)):
        product += np.float64(query[i]) * np.float64(document[i])
    return product


@jit_in_any_order
def _multiply_two(queries: Vectors, documents: Vectors, query: Rows, document: Rows, products: Sums) -> None:
    left, right = queries[query[0]], queries[query[1]]
    first, second = documents[document[0]], documents[document[1]]
    sum_0 = sum_1 = 0.0
    for i in range(len(left)):
        sum_0 += np.float64(left[i]) * np.float64(first[i])
        sum_1 += np.float64(right[i]) * np.float64(second[i])
    products[0], products[1] = sum_0, sum_1


@jit_in_any_order
def _multiply_four(query: Sums, documents: Vectors, document: Rows, products: Sums) -> None:
    first, second = documents[document[0]], documents[document[1]]
    third, fourth = documents[document[2]], documents[document[3]]
    sum_0 = sum_1 = sum_2 = sum_3 = 0.0
    for i in range(len(query)):
        number = query[i]
        sum_0 += number * np.float64(first[i])
        sum_1 += number * np.float64(second[i])
        sum_2 += number * np.float64(third[i])
        sum_3 += number * np.float64(fourth[i])
    products[0], products[1], products[2], products[3] = sum_0, sum_1, sum_2, sum_3


@jit
def multiply_pairs(queries: Vectors, documents: Vectors, query: Rows, document: Rows, products: Sums) -> None:
    """Write the inner product of each pair, in float64 and in no fixed order.

    Documents are read side by side, since each has to come from a larger cache or from memory.
    """
    held, left = -1, np.empty(queries.shape[1])
    number, count = 0, len(query)
    while number < count:
        row, four = query[number], slice(number, number + 4)
        if number + 4 <= count and query[number + 1] == query[number + 2] == query[number + 3] == row:
            if row != held:
                held = row
                for i in range(len(left)):
                    left[i] = np.float64(queries[row, i])
            _multiply_four(left, documents, document[four], products[four])
            number += 4
        elif number + 2 <= count:
            two = slice(number, number + 2)
            _multiply_two(queries, documents, query[two], document[two], products[two])
            number += 2
        else:
            products[number] = _multiply_one(queries[row], documents[document[number]])
            number += 1


@jit
def round_products(
    products: Sums,
    width: int,
    query_lengths: Sums,
    document_lengths: Sums,
    query: Rows,
    document: Rows,
    distance: int,
    scores: Vectors,
    unsure: Rows,
) -> int:
    """Write the scores of pairs whose products are known in some order of additions (`score_into`'s names).

    `unsure` gets the pairs whose score by the fixed order could be another; gives how many they are.
    """
    # Of n products the sums of two orders differ by 2 n 2^-53 of the lengths' product at most. The square of
    # a distance by lengths and product differs from that by differences by 2 (n + 8) 2^-53 of the square of
    # the lengths' sum. Here is twice as much.
    share = (width + 8) * 2.0**-51
    found = 0
    for number in range(len(products)):
        left, right = query_lengths[query[number]], document_lengths[document[number]]
        if distance == 1:
            square, doubt = left * left + right * right - 2 * products[number], share * (left + right) ** 2
            low, high = -np.sqrt(square + doubt), -np.sqrt(max(square - doubt, 0.0))
        else:
            doubt = share * left * right
            low, high = products[number] - doubt, products[number] + doubt
            if distance == 0 and left * right > 0:
                low, high = low / (left * right), high / (left * right)
        scores[number] = np.float32(low) + np.float32(0.0)
        unsure[found] = number
        found += np.float32(low) != np.float32(high)
    return found


@jit
def fold(sums: Sums, width: int) -> float:
    """The sum of the first `width` numbers, halved again and again: one order, whatever lies beside them.

    They are overwritten.

    >>> fold(np.array([1.0, 2.0, 3.0]), 3)
    6.0
    """
    while width > 1:
        half = width // 2
        for i in range(half):
            sums[i] = sums[i] + sums[half + i]
        if width % 2:
            sums[0] = sums[0] + sums[width - 1]
        width = half
    return float(sums[0])


@jit
def multiply_add(left: Sums, right: Vectors, sums: Sums) -> float:
    """The inner product of two vectors: products half a vector apart are added, then `fold` adds the rest.

    `sums` has room for half a vector, and one number at least.
    """
    width = len(left)
    if width == 0:
        return 0.0
    half = width // 2
    for i in range(half):
        low = left[i] * right[i]
        sums[i] = low + left[half + i] * right[half + i]
    if width % 2:
        low = left[width - 1] * right[width - 1]
        sums[0] = sums[0] + low if width > 1 else low
    return fold(sums, max(half, 1))


@jit
def score_into(
    queries: Vectors,
    documents: Vectors,
    query_lengths: Sums,
    document_lengths: Sums,
    query: Rows,
    document: Rows,
    distance: int,
    scores: Vectors,
) -> None:
    """Write the score of each pair; `distance` counts the names of `Distance`."""
    width = queries.shape[1]
    half = width // 2
    sums, left = np.zeros(max(half, 1)), np.zeros(width)
    held = -1
    for number in range(len(query)):
        right = documents[document[number]]
        if query[number] != held:
            held = query[number]
            for i in range(width):
                left[i] = np.float64(queries[held, i])
        if distance == 1:
            for i in range(half):
                low = left[i] - np.float64(right[i])
                high = left[half + i] - np.float64(right[half + i])
                sums[i] = low * low + high * high
            if width % 2:
                low = left[width - 1] - np.float64(right[width - 1])
                sums[0] = sums[0] + low * low if width > 1 else low * low
            # Adding zero turns -0.0, also one that a float32 was rounded to, into 0.0.
            scores[number] = np.float32(-np.sqrt(fold(sums, max(half, 1)))) + np.float32(0.0)
            continue
        product = multiply_add(left, right, sums)
        if distance == 0:
            lengths = query_lengths[held] * document_lengths[document[number]]
            if lengths > 0:
                product = product / lengths
        scores[number] = np.float32(product) + np.float32(0.0)


@jit
def measure_lengths(vectors: Vectors, first: int, stop: int, lengths: Sums) -> None:
    """Write the lengths of the rows `first` to `stop`; not finite where a number is not."""
    width = vectors.shape[1]
    sums, left = np.zeros(max(width // 2, 1)), np.zeros(width)
    for row in range(first, stop):
        for i in range(width):
            left[i] = np.float64(vectors[row, i])
        lengths[row] = np.sqrt(multiply_add(left, vectors[row], sums))


@jit
def measure_unknown(vectors: Vectors, rows: Rows, lengths: Sums) -> None:
    """Write the lengths of those of the rows that have none, which is not a number."""
    for row in rows:
        if np.isnan(lengths[row]):
            measure_lengths(vectors, row, row + 1, lengths)


def measure_rows(documents: CheckedVectors, rows: Rows) -> None:
    """Fill in the lengths of documents that are asked for; NaN until then.

    Raises `IndexingError` for a vector that is not finite.
    """
    rows = np.ascontiguousarray(rows, dtype=np.int64)
    measure_unknown(_see(documents.values), rows, documents.lengths)
    finite = np.isfinite(documents.lengths[rows])
    if not finite.all():
        row = int(rows[np.argmin(finite)])
        require_finite(documents.lengths[row : row + 1], "document", row)


def check_vectors(vectors: Vectors, kind: str, first_row: int = 0) -> CheckedVectors:
    """The array (n, d) with its lengths; `IndexingError` names the first row that is not finite."""
    array = make_matrix(vectors, kind)
    lengths, seen = np.empty(len(array), dtype=np.float64), _see(array)
    share(lambda first, stop: measure_lengths(seen, first, stop, lengths), len(array), MIN_SHARE)
    require_finite(lengths, kind, first_row)
    return CheckedVectors(array, lengths)


def make_matrix(vectors: Vectors, kind: str) -> Vectors:
    """The array (n, d) as the kernels take it; `IndexingError` for one of another shape."""
    array = np.ascontiguousarray(vectors, dtype=np.float32).view(np.ndarray)
    if array.ndim != 2:
        raise IndexingError(f"{kind} vectors have the shape {array.shape}; expected (rows, dimensions)")
    return array


def require_finite(lengths: NDArray[np.float64], kind: str, first_row: int) -> None:
    """Raise `IndexingError` that names the first row whose length is not finite."""
    finite = np.isfinite(lengths)  # a square of a float32 number cannot overflow a float64
    if not finite.all():
        raise IndexingError(
            f"{kind} vector {first_row + int(np.argmin(finite))} is not finite; expected float32 numbers. "
            "Encode or import it again"
        )


def share(work: Callable[[int, int], object], count: int, least: int, step: int = 1) -> None:
    """Call `work(first, stop)` for parts of `range(count)` in torch's number of threads, and wait.

    A part has `least` or more, and begins at a multiple of `step`.
    """
    threads = max(1, min(count_threads(), count // max(1, least)))
    bounds = [count * number // threads // step * step for number in range(threads)] + [count]
    if threads == 1:
        work(0, count)
        return
    run_in_torch_threads([partial(work, first, stop) for first, stop in pairwise(bounds)])


def run_in_torch_threads(tasks: Sequence[Callable[[], object]]) -> None:
    """Run the tasks in torch's number of threads, and wait for all (`run_in_threads`)."""
    run_in_threads(tasks, count_threads(), _use_one_thread)


def _use_one_thread() -> None:
    """Have what this thread calls of torch take no thread beside it."""
    _find_thread_pools().limit(limits=1, user_api="openmp")


@functools.cache
def _find_thread_pools() -> ThreadpoolController:
    import torch  # noqa: F401  its pool is one of them

    return ThreadpoolController()


def count_threads() -> int:
    """How many threads torch computes with, which is how many a search takes."""
    import torch  # late: who only names a distance waits for no torch

    return torch.get_num_threads()


def require_width(queries: CheckedVectors, documents: CheckedVectors) -> None:
    """Raise `IndexingError` unless both have the same number of dimensions."""
    if queries.values.shape[1] != documents.values.shape[1]:
        raise IndexingError(
            f"queries have {queries.values.shape[1]} dimensions and documents {documents.values.shape[1]}; "
            "expected vectors of one encoder"
        )


def require_distance(distance: str) -> None:
    """Raise `UnknownNameError` unless `distance` is one that can be searched."""
    if distance not in DISTANCES:
        raise UnknownNameError("distance", distance, list(DISTANCES))
