"""How well reviewers fit submissions: the mean of the largest cosines with a reviewer's own papers.

Source: SciRepEval's reviewer_matching.py (Singh et al. 2023), which takes three. No database.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import IndexingError
from pinakes.indexers.exact.scores import (
    CheckedVectors,
    Rows,
    Vectors,
    check_vectors,
    require_width,
    score_rows,
)

BEST: Final = 3
"""how many of a reviewer's papers count"""


def score_reviewers(
    submissions: Vectors, papers: Vectors, authored: Sequence[Rows], best: int = BEST
) -> NDArray[np.float64]:
    """The score of each reviewer for each submission (q, r), higher is better.

    It is the mean of the `best` largest cosines of the submission with the reviewer's papers; of fewer where
    they have fewer; not a number where they have none, so that who has no paper is never ranked by chance.
    A paper that is named twice counts twice. The same scores at any number of threads: cosines are summed in
    one order, and means are exactly rounded from the largest cosine down.

    Args:
        submissions: their vectors (q, d).
        papers: the vectors of all reviewers' papers (n, d).
        authored: the rows of `papers` that are each reviewer's.
        best: how many cosines count, from 1 on.

    Raises `IndexingError` for vectors that are not finite or of two widths, and for rows that are not there.

    >>> score_reviewers(np.float32([[1, 0]]), np.float32([[2, 0], [0, 1]]), [np.array([0, 1]), np.array([1])])
    array([[0.5, 0. ]])
    """
    if best < 1:
        raise IndexingError(f"the {best} best papers of a reviewer are asked for; expected 1 or more")
    queries, documents = check_vectors(submissions, "submission"), check_vectors(papers, "paper")
    require_width(queries, documents)
    counts = np.array([len(rows) for rows in authored], dtype=np.int64)
    rows = np.concatenate([np.empty(0, np.int64), *authored]).astype(np.int64)
    if len(rows) and (rows.min() < 0 or rows.max() >= len(papers)):
        raise IndexingError(f"a reviewer names a paper in row {rows.max()}; there are {len(papers)} papers")
    scores = np.empty((len(submissions), len(counts)), dtype=np.float64)
    for number in range(len(submissions)):
        scores[number] = _average_best(_compare(queries, number, documents)[rows], counts, best)
    return scores


def _compare(queries: CheckedVectors, number: int, documents: CheckedVectors) -> Vectors:
    """The cosines of one submission with every paper (n,)."""
    every = np.arange(len(documents.values))
    return score_rows(queries, documents, np.full(len(every), number), every, "cosine")


def _average_best(values: Vectors, counts: Rows, best: int) -> NDArray[np.float64]:
    """The mean of the `best` greatest values of each segment of `counts` values; nan of an empty one."""
    owner = np.repeat(np.arange(len(counts)), counts)
    ordered = values[np.lexsort((-values, owner))].astype(np.float64)
    starts = np.cumsum(counts) - counts
    place = np.arange(len(values)) - starts[owner]
    taken = np.zeros((len(counts), best), dtype=np.float64)
    kept = place < best
    taken[owner[kept], place[kept]] = ordered[kept]
    total = np.zeros(len(counts), dtype=np.float64)
    for column in range(best):
        total += taken[:, column]
    divisor = np.minimum(counts, best).astype(np.float64)
    means: NDArray[np.float64] = np.full(len(counts), np.nan)
    return np.divide(total, divisor, out=means, where=divisor > 0)
