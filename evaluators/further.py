"""Measures of ir-measures that trec_eval lacks, over arrays of judged ranks: its formulas, trec_eval's order.

Trap: ir-measures hands each of them to another package, and those order equal scores each in its own way
(`Judged`, `RR@k`, `Accuracy` and `Compat` by the id, ascending). Here one table has one order.
"""

from typing import Final

import numpy as np

from pinakes.errors import EvaluationError
from pinakes.evaluators.array_measures import count_up, raise_grades
from pinakes.evaluators.base import Family, Floats, Measure, over_ranks
from pinakes.evaluators.judged_ranks import Integers, JudgedRanks

HIGHEST_GRADE: Final = 4
"""of `ERR`: what gdeval takes for the best grade, whichever grades are given"""


def judgment_rate(ranks: JudgedRanks, measure: Measure) -> Floats:
    """Judged papers, of any grade, among those that are ranked up to the cutoff; 0 where none is ranked."""
    looked_at = _count_looked_at(ranks, measure)
    found = np.bincount(ranks.query[_up_to(ranks, measure)], minlength=ranks.queries).astype(np.float64)
    return np.divide(found, looked_at, out=np.zeros_like(found), where=looked_at > 0)


def pair_accuracy(ranks: JudgedRanks, measure: Measure) -> Floats:
    """The share of pairs of a relevant and another ranked paper in which the relevant one stands first.

    0 where no relevant paper is ranked; 1 where all are, and there is no pair (ir-measures divides by zero).
    """
    kept = _up_to(ranks, measure) & (ranks.grade >= measure.value_of("rel"))
    query, rank = ranks.query[kept], ranks.rank[kept]
    above = np.bincount(query, weights=rank - count_up(query), minlength=ranks.queries)
    relevant = np.bincount(query, minlength=ranks.queries).astype(np.float64)
    pairs = relevant * (_count_looked_at(ranks, measure) - relevant)
    values = 1.0 - np.divide(above, pairs, out=np.zeros_like(pairs), where=pairs > 0)
    return np.where(relevant > 0, values, 0.0)


def expected_reciprocal_rank(ranks: JudgedRanks, measure: Measure) -> Floats:
    """ERR of Chapelle et al. (2009), as gdeval has it: a reader stops at grade g by (2 ** g - 1) / 2 ** 4.

    Raises `EvaluationError` for a grade above 4, by which a reader would be surer than sure to stop.
    """
    kept = _up_to(ranks, measure) & (ranks.grade > 0)
    query, rank, grade = ranks.query[kept], ranks.rank[kept], ranks.grade[kept]
    highest = int(ranks.judged_grade.max(initial=0))
    if highest > HIGHEST_GRADE:
        raise EvaluationError(
            f"ERR takes grades up to {HIGHEST_GRADE}, and one is {highest}; choose nDCG or RBP instead"
        )
    stops = raise_grades(grade) / 2**HIGHEST_GRADE
    values, goes_on = np.zeros(ranks.queries), np.ones(ranks.queries)
    for rows in _walk(count_up(query)):
        of = query[rows]
        values[of] += stops[rows] * goes_on[of] / rank[rows]
        goes_on[of] *= 1 - stops[rows]
    return values


def count_queries(ranks: JudgedRanks, _measure: Measure) -> Floats:
    """1 for every judged query: the sum is their number."""
    return np.ones(ranks.queries)


def _walk(places: Integers) -> list[Integers]:
    """The rows of every query's first paper, of every second, and so on."""
    order = np.argsort(places, kind="stable")
    return np.split(order, np.searchsorted(places[order], np.arange(2, places.max(initial=1) + 1)))


def _up_to(ranks: JudgedRanks, measure: Measure) -> np.ndarray:
    if measure.rank_cutoff is None:
        return np.ones(len(ranks.rank), dtype=bool)
    return np.asarray(ranks.rank <= measure.rank_cutoff)


def _count_looked_at(ranks: JudgedRanks, measure: Measure) -> Floats:
    """How many papers each query ranks up to the cutoff."""
    cutoff = measure.rank_cutoff
    looked_at = ranks.retrieved if cutoff is None else np.minimum(ranks.retrieved, cutoff)
    return looked_at.astype(np.float64)


ACCURACY: Final = Family("Accuracy", over_ranks(pair_accuracy), "optional_rank", {"rel": 1})
ERR: Final = Family("ERR", over_ranks(expected_reciprocal_rank), "optional_rank")
JUDGED: Final = Family("Judged", over_ranks(judgment_rate), "optional_rank")
NUM_Q: Final = Family("NumQ", over_ranks(count_queries), is_count=True)
