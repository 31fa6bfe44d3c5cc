"""Ranks, overlaps and pairs of texts that are weighted terms.

Every score is computed, query by query, through the postings of the documents' terms. No document is skipped:
a common term of a long query reaches most of them.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.exact.best import Best, Ties
from pinakes.indexers.exact.scores import Rows, count_threads
from pinakes.indexers.self_retrieval import sparse_kernels
from pinakes.indexers.self_retrieval.overlaps import NEEDED, find_pairs, order_candidates, share_nearest
from pinakes.indexers.self_retrieval.places import find_places
from pinakes.indexers.self_retrieval.space import (
    Overlaps,
    PairStatistics,
    Ranked,
    SparseRows,
    SparseTexts,
)

QUERIES_AT_ONCE = 64  # that a thread takes
COMMON = 4  # a term that more than a fourth of the documents have is common


class Postings(NamedTuple):
    """Documents by term.

    Attributes:
        starts: where each term begins in the next two, and the end of the last.
        documents, impacts: ascending in a term, and its weights there.
        lines_of: for each term the line of a common one, else -1.
        lines: the weights of a common term in every document, which is read faster.
    """

    starts: NDArray[np.int64]
    documents: NDArray[np.int32]
    impacts: NDArray[np.float64]
    lines_of: NDArray[np.int32]
    lines: NDArray[np.float64]


def rank_own(queries: SparseTexts, candidates: Sequence[SparseTexts], ties: Rows) -> Ranked:
    """As `ranks.rank_own`."""
    chosen = np.flatnonzero(np.isin(queries.rows, candidates[0].rows))
    rows = queries.rows[chosen]
    rank, equal = np.ones(len(rows), dtype=np.int32), np.zeros(len(rows), dtype=np.int32)
    own = np.empty(len(rows), dtype=np.float32)
    for number, texts in enumerate(candidates):
        arrays = (*_arrays(queries.queries), *invert(texts.documents), chosen, find_places(rows, texts.rows))
        results = (number > 0, own, ties[rows], ties[texts.rows], rank, equal)

        def work(first: int, stop: int, given: tuple[Any, ...] = (*arrays, *results)) -> None:
            sparse_kernels.rank_part(first, stop, *given)

        _share(work, len(rows))
    return Ranked(rows, rank, equal)


def find_overlaps(
    neighbours: SparseTexts, originals: SparseTexts, sample: NDArray[np.intp], ties: Rows
) -> Overlaps:
    """As `overlaps.find_overlaps`."""
    rows, near, far = find_pairs(neighbours.rows, originals.rows, sample)
    postings = invert(join(originals.documents, neighbours.documents))
    best = order_candidates(neighbours.rows, originals.rows, ties)
    found = np.concatenate(
        [
            _search(asked, postings, best)
            for asked in (take(neighbours.queries, near), take(originals.queries, far))
        ]
    )
    same = _same(neighbours.queries, near, originals.queries, far)
    same &= _same(neighbours.documents, near, originals.documents, far)
    return Overlaps(rows, share_nearest(found, near + len(originals.rows), far), same)


def measure_pairs(texts: SparseTexts) -> PairStatistics:
    """As `pairs.measure_pairs`, by the cosine of the documents' weights."""
    rows = _make_directions(texts.documents)
    count = len(rows)
    pairs = count * (count - 1) // 2
    total = np.bincount(rows.terms, rows.weights)
    mean = float((total**2).sum() - (rows.weights**2).sum()) / (2 * pairs)
    lowest, highest = np.empty(count, dtype=np.float32), np.empty(count, dtype=np.float32)
    squares, above = np.zeros(count), np.zeros(count, dtype=np.int64)
    arrays = (*_arrays(rows), *invert(rows), mean, lowest, highest, squares, above)
    _share(lambda first, stop: sparse_kernels.measure_part(first, stop, *arrays), count)
    deviation = float(np.sqrt(squares.sum() / pairs))
    return PairStatistics(
        count, pairs, float(lowest.min()), float(highest.max()), mean, deviation, int(above.sum())
    )


def invert(documents: SparseRows) -> Postings:
    """The postings of each term."""
    order = np.argsort(documents.terms, kind="stable")
    numbers = np.repeat(np.arange(len(documents), dtype=np.int32), np.diff(documents.starts))
    frequencies = np.bincount(documents.terms)
    starts = np.concatenate([[0], np.cumsum(frequencies)]).astype(np.int64)
    numbers, impacts = numbers[order], documents.weights[order]
    common = np.flatnonzero(frequencies * COMMON > len(documents))
    lines_of = np.full(len(frequencies), -1, dtype=np.int32)
    lines_of[common] = np.arange(len(common))
    lines = np.zeros((len(common), len(documents)))
    for line, term in zip(lines, common, strict=True):
        part = slice(starts[term], starts[term + 1])
        line[numbers[part]] = impacts[part]
    return Postings(starts, numbers, impacts, lines_of, lines)


def join(first: SparseRows, second: SparseRows) -> SparseRows:
    """All rows of the one, then those of the other."""
    return SparseRows(
        np.concatenate([first.starts, second.starts[1:] + first.starts[-1]]),
        np.concatenate([first.terms, second.terms]),
        np.concatenate([first.weights, second.weights]),
    )


def take(rows: SparseRows, chosen: Rows) -> SparseRows:
    """The chosen rows, in their order."""
    lengths = np.diff(rows.starts)[chosen]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    places = np.repeat(rows.starts[chosen] - starts[:-1], lengths) + np.arange(starts[-1])
    return SparseRows(starts, rows.terms[places], rows.weights[places])


def _search(asked: SparseRows, postings: Postings, order: Rows) -> Rows:
    depth = min(NEEDED, len(order))
    best = Best(len(asked), depth, Ties(order))
    ranks = best.ties.ranks(np.arange(len(order)))

    def work(first: int, stop: int) -> None:
        singles = np.empty(len(order), dtype=np.float32)
        results = (ranks, singles, singles.view(np.uint32), best.keys, best.held)
        given: tuple[Any, ...] = (*_arrays(asked), *postings, np.arange(len(asked)), *results)
        sparse_kernels.search_part(first, stop, *given)

    _share(work, len(asked))
    return best.take(depth)[0]


def _same(left: SparseRows, near: Rows, right: SparseRows, far: Rows) -> NDArray[np.bool_]:
    """Whether the rows of each pair are equal to the bit."""
    pairs = zip(_texts(left, near), _texts(right, far), strict=True)
    return np.array([one == other for one, other in pairs], dtype=bool)


def _texts(rows: SparseRows, chosen: Rows) -> list[tuple[bytes, bytes]]:
    parts = [slice(rows.starts[row], rows.starts[row + 1]) for row in chosen]
    return [(rows.terms[part].tobytes(), rows.weights[part].tobytes()) for part in parts]


def _make_directions(rows: SparseRows) -> SparseRows:
    numbers = np.repeat(np.arange(len(rows)), np.diff(rows.starts))
    lengths = np.sqrt(np.bincount(numbers, rows.weights**2, minlength=len(rows)))
    lengths[lengths == 0] = 1.0
    return SparseRows(rows.starts, rows.terms, rows.weights / lengths[numbers])


def _arrays(rows: SparseRows) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    return rows.starts, rows.terms, rows.weights


def _share(work: Callable[[int, int], object], count: int) -> None:
    """Call `work(first, stop)` for parts of `range(count)` in torch's number of threads, and wait."""
    with ThreadPoolExecutor(count_threads()) as workers:
        parts = [(first, min(first + QUERIES_AT_ONCE, count)) for first in range(0, count, QUERIES_AT_ONCE)]
        for _ in workers.map(lambda part: work(*part), parts):
            pass
