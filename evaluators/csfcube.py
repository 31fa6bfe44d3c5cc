"""CSFCube's own measures, as its evaluation script computes them (Mysore et al., 2021).

Grades are 0 to 3; a grade from 2 on is relevant. The ranking's given order counts, not its scores. Two
rules differ from the script, which silently shortens a partial ranking (here the lacking papers follow at
the end) and fails on fewer than 20 papers (here `P` always divides by its cutoff).
"""

import math
from typing import Final

from pinakes.evaluators.given_order import Grades, pool_family

RELEVANT: Final = 2
"""the lowest grade that counts as relevant"""


def discounted_gain(grades: Grades, ranks: int) -> float:
    """The script's DCG: ranks 1 and 2 undiscounted, then 1 / log2(rank); linear gains.

    Trap: trec_eval discounts by 1 / log2(rank + 1).

    >>> discounted_gain([2, 1, 2, 0], 4) == 2 + 1 + 2 / math.log2(3)
    True
    """
    head = grades[:ranks]
    return math.fsum(grade / max(1.0, math.log2(rank)) for rank, grade in enumerate(head, start=1))


def normalised_gain(grades: Grades, ranks: int) -> float:
    """DCG over the DCG of the best order of the pool; 0 where nothing has a gain.

    >>> round(normalised_gain([2, 1, 2, 0], 4), 7)
    0.9203032
    """
    ideal = discounted_gain(sorted(grades, reverse=True), ranks)
    return discounted_gain(grades, ranks) / ideal if ideal > 0 else 0.0


def relevant_ranks(grades: Grades) -> list[int]:
    """The ranks, from 1, of the relevant papers.

    >>> relevant_ranks([3, 1, 2, 0])
    [1, 3]
    """
    return [rank for rank, grade in enumerate(grades, start=1) if grade >= RELEVANT]


def last_relevant_precision(grades: Grades, ranks: int) -> float:
    """What the script calls `r_precision`: the number of relevant papers over the rank of the last one.

    This is not R-precision: [2, 0, 2, 0] gives 2/3, its R-precision is 1/2.
    """
    found = relevant_ranks(grades)
    return len(found) / found[-1] if found else 0.0


def precision(grades: Grades, ranks: int) -> float:
    """Relevant papers among the first `ranks`, over `ranks`, also where the pool is smaller."""
    return len(relevant_ranks(grades[:ranks])) / ranks


def recall(grades: Grades, ranks: int) -> float:
    """The share of the relevant papers that is among the first `ranks`; 0 where none is relevant."""
    found = relevant_ranks(grades)
    return sum(rank <= ranks for rank in found) / len(found) if found else 0.0


def f1(grades: Grades, ranks: int) -> float:
    """The harmonic mean of `precision` and `recall`; 0 where both are."""
    both = precision(grades, ranks) + recall(grades, ranks)
    return 2 * precision(grades, ranks) * recall(grades, ranks) / both if both > 0 else 0.0


def average_precision(grades: Grades, ranks: int) -> float:
    """The mean, over the relevant papers, of the precision at their rank; 0 where none is relevant."""
    found = relevant_ranks(grades)
    return math.fsum(seen / rank for seen, rank in enumerate(found, start=1)) / len(found) if found else 0.0


def reciprocal_rank(grades: Grades, ranks: int) -> float:
    """One over the rank of the first relevant paper; 0 where none is relevant."""
    found = relevant_ranks(grades)
    return 1 / found[0] if found else 0.0


AP: Final = pool_family("CSFCube.AP", average_precision)
F1: Final = pool_family("CSFCube.F1", f1, "rank")
NDCG: Final = pool_family("CSFCube.nDCG", normalised_gain, "rank")
NDCG_SHARE: Final = pool_family("CSFCube.nDCG", normalised_gain, "share")
P: Final = pool_family("CSFCube.P", precision, "rank")
R: Final = pool_family("CSFCube.R", recall, "rank")
RP: Final = pool_family("CSFCube.RP", last_relevant_precision)
RR: Final = pool_family("CSFCube.RR", reciprocal_rank)
