"""Rankings and judgments as columns of numbers: what every measure is computed on.

A query is its position among the judged queries, a paper a number that rises with the source's id, byte by
byte.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class JudgedColumns:
    """Judged papers, one place of each array a (query, paper) pair.

    Attributes:
        query_ids: the judged queries, by id.
        query: positions in `query_ids`, ascending (m,).
        paper: numbers of papers (m,).
        grade: their grades (m,).
        name_paper: the source's id of a paper's number, for messages.
    """

    query_ids: Sequence[str]
    query: NDArray[np.int64]
    paper: NDArray[np.int64]
    grade: NDArray[np.int64]
    name_paper: Callable[[int], str]


@dataclass(frozen=True, slots=True, eq=False)
class RankedColumns:
    """Ranked papers of judged queries, one place of each array a (query, paper) pair.

    They may stand in any order, unless a measure is of the given order: then each query's papers stand in it.

    Attributes:
        query: positions in `JudgedColumns.query_ids` (n,).
        paper: numbers of papers, as `JudgedColumns` counts them (n,).
        score: higher is better; 32-bit floats, as trec_eval 9 reads them (n,).
    """

    query: NDArray[np.int32]
    paper: NDArray[np.int32]
    score: NDArray[np.float32]

    def select(self, kept: NDArray[np.bool_] | NDArray[np.int64]) -> "RankedColumns":
        """The pairs where `kept` is true, or those at its places."""
        return RankedColumns(self.query[kept], self.paper[kept], self.score[kept])


def round_to_float32(scores: NDArray[np.float64]) -> NDArray[np.float32]:
    """Scores as 32-bit floats; beyond their range they are infinite.

    >>> round_to_float32(np.array([1 + 2**-25, -1e300])).tolist()
    [1.0, -inf]
    """
    # said here, so that a pytrec_eval with 64-bit scores would order the same
    with np.errstate(over="ignore", under="ignore"):
        return scores.astype(np.float32)
