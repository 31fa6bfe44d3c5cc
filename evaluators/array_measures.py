"""trec_eval's measures over arrays of judged ranks, equal to its own code to the last bit.

Every sum goes over a query's papers from the best rank down, one double after the other, as the loops of
trec_eval do (`numpy.bincount` adds in that order, `numpy.sum` does not), and logarithms are the C library's.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from pinakes.errors import EvaluationError
from pinakes.evaluators.base import Floats
from pinakes.evaluators.judged_ranks import Integers, JudgedRanks

Kernel = Callable[[JudgedRanks, int, int | None], Floats]
"""Gives a value for each query from the ranks, the lowest grade that is relevant, and the cutoff or None."""


def average_precision(ranks: JudgedRanks, level: int, cutoff: int | None) -> Floats:
    """The mean, over all relevant papers, of the precision at their rank; those below the cutoff give 0."""
    query, rank = _relevant(ranks, level, cutoff)
    return _divide(_add(ranks, query, count_up(query) / rank), _count_expected(ranks, level))


def gain(ranks: JudgedRanks, _level: int, cutoff: int | None) -> Floats:
    """nDCG: gains are grades, over log2(rank + 1); the best order is over all judged papers."""
    return _normalised_gain(ranks, cutoff, lambda grade: grade)


def exponential_gain(ranks: JudgedRanks, _level: int, cutoff: int | None) -> Floats:
    """nDCG with gains of 2 ** grade - 1, as gdeval has it and Burges et al. (2005).

    Raises `EvaluationError` for a grade whose gain is beyond a double.
    """
    return _normalised_gain(ranks, cutoff, raise_grades)


def raise_grades(grade: Integers) -> Floats:
    """2 ** grade - 1 of each grade above 0."""
    if len(grade) and grade.max() > MOST_RAISED:
        raise EvaluationError(
            f"a grade is {grade.max()}, and 2 ** grade is no number above {MOST_RAISED}; choose dcg='log2'"
        )
    raised: Floats = np.exp2(grade.astype(np.float64)) - 1
    return raised


def _normalised_gain(ranks: JudgedRanks, cutoff: int | None, gain_of: Callable[[Integers], Any]) -> Floats:
    gained = ranks.grade > 0
    query, rank, grade = _cut(cutoff, ranks.query[gained], ranks.rank[gained], ranks.grade[gained])
    found = _add(ranks, query, gain_of(grade) / _log2(rank + 1))
    order = np.lexsort((-ranks.judged_grade, ranks.judged_query))
    best_query, best_grade = ranks.judged_query[order], ranks.judged_grade[order]
    best_query, best_grade = best_query[best_grade > 0], best_grade[best_grade > 0]
    best_query, best_rank, best_grade = _cut(cutoff, best_query, count_up(best_query), best_grade)
    return _divide(found, _add(ranks, best_query, gain_of(best_grade) / _log2(best_rank + 1)))


def precision(ranks: JudgedRanks, level: int, cutoff: int | None) -> Floats:
    """Relevant papers up to the cutoff over the cutoff, also where fewer are ranked."""
    return _count_found(ranks, level, cutoff) / float(cutoff or 1)


def recall(ranks: JudgedRanks, level: int, cutoff: int | None) -> Floats:
    """Relevant papers up to the cutoff over all relevant papers."""
    return _divide(_count_found(ranks, level, cutoff), _count_expected(ranks, level))


def r_precision(ranks: JudgedRanks, level: int, _cutoff: int | None) -> Floats:
    """Relevant papers among as many as there are relevant ones, over their number."""
    query, rank = _relevant(ranks, level, None)
    expected = _count_expected(ranks, level)
    return _divide(_count(ranks, query[rank <= expected[query]]), expected)


def reciprocal_rank(ranks: JudgedRanks, level: int, cutoff: int | None) -> Floats:
    """One over the rank of the first relevant paper up to the cutoff."""
    query, rank = _relevant(ranks, level, cutoff)
    first, at = np.unique(query, return_index=True)
    values = np.zeros(ranks.queries)
    values[first] = 1.0 / rank[at]
    return values


def success(ranks: JudgedRanks, level: int, cutoff: int | None) -> Floats:
    """1 where a relevant paper stands up to the cutoff."""
    return (_count_found(ranks, level, cutoff) > 0).astype(np.float64)


def count_relevant(ranks: JudgedRanks, level: int, _cutoff: int | None) -> Floats:
    """All relevant papers, ranked or not, of every judged query.

    pytrec_eval counts grade 1 alone, and only for queries that rank a paper.
    """
    return _count_expected(ranks, level)


MOST_RAISED: Final = 1000
"""the highest grade that is taken as a power of 2"""

KERNELS: Final[Mapping[str, Kernel]] = {
    "AP": average_precision,
    "NumRel": count_relevant,
    "P": precision,
    "R": recall,
    "RR": reciprocal_rank,
    "Rprec": r_precision,
    "Success": success,
    "nDCG": gain,
}
"""base name of a family of `standard` -> what computes it where no parameter but `rel` is given"""


def _cut(
    cutoff: int | None, query: Integers, rank: Integers, grade: Integers
) -> tuple[Integers, Integers, Integers]:
    if cutoff is None:
        return query, rank, grade
    kept = rank <= cutoff
    return query[kept], rank[kept], grade[kept]


def _relevant(ranks: JudgedRanks, level: int, cutoff: int | None) -> tuple[Integers, Integers]:
    """Query and rank of the relevant papers up to the cutoff, by query and rank."""
    kept = ranks.grade >= level
    if cutoff is not None:
        kept &= ranks.rank <= cutoff
    return ranks.query[kept], ranks.rank[kept]


def _count_found(ranks: JudgedRanks, level: int, cutoff: int | None) -> Floats:
    return _count(ranks, _relevant(ranks, level, cutoff)[0])


def _count_expected(ranks: JudgedRanks, level: int) -> Floats:
    return _count(ranks, ranks.judged_query[ranks.judged_grade >= level])


def _count(ranks: JudgedRanks, query: Integers) -> Floats:
    return np.bincount(query, minlength=ranks.queries).astype(np.float64)


def count_up(query: Integers) -> Integers:
    """1, 2, … within each query; queries ascending.

    >>> count_up(np.array([0, 0, 2])).tolist()
    [1, 2, 1]
    """
    return np.arange(1, len(query) + 1) - np.searchsorted(query, query)


def _add(ranks: JudgedRanks, query: Integers, values: Floats) -> Floats:
    # of no rows bincount gives whole numbers
    return np.bincount(query, weights=values, minlength=ranks.queries).astype(np.float64)


def _divide(values: Floats, by: Floats) -> Floats:
    return np.divide(values, by, out=np.zeros_like(values), where=by > 0)


def _log2(numbers: Integers) -> Floats:
    """The C library's logarithm of each number; NumPy's own may differ in the last bit."""
    distinct, at = np.unique(numbers, return_inverse=True)
    return np.array([math.log2(number) for number in distinct.tolist()])[at]
