"""At which rank a ranking holds each judged paper, in trec_eval's order, found in bounded memory.

The order is that of versions 9: scores as 32-bit floats, descending; equal scores by the paper's id,
byte-wise descending. Rows are sorted as whole numbers with the row in the lowest bits, which NumPy does many
times faster than it finds an order.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import EvaluationError
from pinakes.evaluators.columns import JudgedColumns, RankedColumns

BLOCK_ROWS: Final = 1 << 20
BLOCK_QUERIES: Final = 1 << 10
"""a block's keys fit 63 bits: 10 for the query, 32 for score or paper, 21 for the row; a longer ranking is a
block of its own, whose keys have no query"""

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class JudgedRanks:
    """The judged papers that are ranked, by query and rank, beside all judgments.

    Attributes:
        queries: how many queries are judged.
        query, rank, grade: of each ranked judged paper; the best rank is 1 (k,).
        judged_query, judged_grade: of all judgments, queries ascending (m,).
        retrieved: how many papers each query's ranking holds (queries,).
    """

    queries: int
    query: Integers
    rank: Integers
    grade: Integers
    judged_query: Integers
    judged_grade: Integers
    retrieved: Integers


def keep_judged(ranks: JudgedRanks) -> JudgedRanks:
    """The ranks that are left where rankings hold judged papers alone.

    A grade below 0 is none: trec_eval's code takes it for "not judged".
    """
    kept = ranks.grade >= 0
    query, grade = ranks.query[kept], ranks.grade[kept]
    rank = np.arange(1, len(query) + 1) - np.searchsorted(query, query)
    retrieved = np.bincount(query, minlength=ranks.queries)
    return replace(ranks, query=query, rank=rank, grade=grade, retrieved=retrieved)


def rank_judged(ranked: RankedColumns, judged: JudgedColumns) -> JudgedRanks:
    """The ranks of the judged papers, and how many papers each query retrieves; the rankings by query.

    Raises `EvaluationError` where a score is NaN or a query ranks a paper twice.
    """
    _require_numbers(ranked, judged)
    queries = np.arange(len(judged.query_ids) + 1)
    starts, judged_starts = np.searchsorted(ranked.query, queries), np.searchsorted(judged.query, queries)
    rank = np.zeros(len(judged.query), dtype=np.int64)
    for first, last in _cut_blocks(starts):
        rows, requested = slice(starts[first], starts[last]), slice(judged_starts[first], judged_starts[last])
        rank[requested] = _rank_block(ranked, judged, rows, requested, starts[first:last], first)
    found = np.flatnonzero(rank)
    found = found[np.lexsort((rank[found], judged.query[found]))]
    return JudgedRanks(
        queries=len(judged.query_ids),
        query=judged.query[found],
        rank=rank[found],
        grade=judged.grade[found],
        judged_query=judged.query,
        judged_grade=judged.grade,
        retrieved=np.diff(starts),
    )


def _cut_blocks(starts: Integers) -> Iterator[tuple[int, int]]:
    """First query and the one after the last of each block; `starts` has a query's first row, and the end."""
    first, queries = 0, len(starts) - 1
    while first < queries:
        fitting = int(np.searchsorted(starts, starts[first] + BLOCK_ROWS, side="right")) - 1
        last = max(first + 1, min(first + BLOCK_QUERIES, fitting, queries))
        yield first, last
        first = last


def _rank_block(
    ranked: RankedColumns, judged: JudgedColumns, rows: slice, requested: slice, starts: Integers, first: int
) -> Integers:
    """The rank of each asked judgment; 0 where its paper is not ranked."""
    papers = 1 + max(_largest(ranked.paper[rows]), _largest(judged.paper[requested]))
    query = ranked.query[rows].astype(np.int64) - first
    keys, found = _sort_rows(query * papers + ranked.paper[rows])
    _require_once(keys, papers, first, judged)
    # from the last id to the first, since equal scores keep this order
    found = found[::-1]
    _, order = _sort_rows((query[found] << 32) + _fall(ranked.score[rows][found]))
    # place in the block, from 1, of each row of `found`, which holds the rows of `keys` from the last on
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(1, len(order) + 1)
    wanted = (judged.query[requested] - first) * papers + judged.paper[requested]
    at = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))
    is_ranked = keys[at] == wanted if len(keys) else np.zeros(len(wanted), dtype=bool)
    above = starts - starts[0]
    ranks = np.zeros(len(wanted), dtype=np.int64)
    hit = np.flatnonzero(is_ranked)
    ranks[hit] = place[len(keys) - 1 - at[hit]] - above[judged.query[requested][hit] - first]
    return ranks


def _largest(numbers: NDArray[np.int32] | Integers) -> int:
    return int(numbers.max()) if len(numbers) else 0


def _sort_rows(keys: Integers) -> tuple[Integers, Integers]:
    """The keys ascending, and the row of each; equal keys in the order of their rows."""
    bits = len(keys).bit_length()
    packed = (keys << bits) | np.arange(len(keys))
    packed.sort()
    return packed >> bits, packed & ((1 << bits) - 1)


def _fall(scores: NDArray[np.float32]) -> Integers:
    """Whole numbers of 32 bits that rise as the scores fall; equal where scores are, as 0.0 and -0.0.

    >>> np.argsort(_fall(np.array([0.5, -np.inf, -1.5, 2.0], dtype=np.float32))).tolist()
    [3, 0, 2, 1]
    """
    bits = (scores + np.float32(0)).view(np.int32).astype(np.int64)
    rising = np.where(bits < 0, -(bits & 0x7FFFFFFF), bits)
    return 0x7FFFFFFF - rising


def _require_numbers(ranked: RankedColumns, judged: JudgedColumns) -> None:
    wrong = np.flatnonzero(np.isnan(ranked.score))
    if len(wrong):
        paper = judged.name_paper(int(ranked.paper[wrong[0]]))
        query_id = judged.query_ids[int(ranked.query[wrong[0]])]
        raise EvaluationError(
            f"the score of paper {paper!r} for query {query_id!r} is not a number (NaN); "
            "a ranking needs numbers"
        )


def _require_once(keys: Integers, papers: int, first: int, judged: JudgedColumns) -> None:
    repeated = np.unique(keys[1:][keys[1:] == keys[:-1]])
    if len(repeated):
        query = int(repeated[0]) // papers
        of_query = int(np.count_nonzero(repeated // papers == query))
        paper = judged.name_paper(int(repeated[0]) % papers)
        raise EvaluationError(
            f"query {judged.query_ids[query + first]!r} ranks paper {paper!r} more than once "
            f"({of_query} such papers); keep each paper's best rank"
        )
