"""`Compat`: how far a ranking overlaps, from the top down, with the best ranking (Clarke et al. 2021).

The best ranking holds the papers of a grade above 0 by grade, equal grades in the ranking's own order. Both
overlap at depth d by the share of d papers that stand within d in both; depths weigh p ** (d - 1).
"""

from typing import Final

import numpy as np

from pinakes.evaluators.array_measures import count_up
from pinakes.evaluators.base import Family, Floats, Measure, over_ranks
from pinakes.evaluators.judged_ranks import Integers, JudgedRanks


def compatibility(ranks: JudgedRanks, measure: Measure) -> Floats:
    """Rank-biased overlap with the best ranking, over that of the best with itself unless normalize=False."""
    wanted = ranks.judged_query[ranks.judged_grade > 0]
    count = np.bincount(wanted, minlength=ranks.queries)
    depth = np.maximum(ranks.retrieved, count)
    weights = measure.value_of("p") ** np.arange(depth.max(initial=0))
    # a paper that both have within depth d adds the weight of every depth from d on, over that depth
    tails = np.concatenate([[0.0], np.cumsum(weights / np.arange(1, len(weights) + 1))])
    kept = ranks.grade > 0
    query, rank = ranks.query[kept], ranks.rank[kept]
    from_depth = np.maximum(rank, _place_best(ranks, query, ranks.grade[kept]))
    found = _overlap(query, from_depth, tails, depth)
    best = _overlap(wanted, count_up(wanted), tails, depth)
    answered = ranks.retrieved > 0
    over = best if measure.value_of("normalize") else np.concatenate([[0.0], np.cumsum(weights)])[depth]
    return np.divide(found, over, out=np.zeros_like(found), where=answered & (over > 0))


def _overlap(query: Integers, from_depth: Integers, tails: Floats, depth: Integers) -> Floats:
    added = tails[depth[query]] - tails[from_depth - 1]
    return np.bincount(query, weights=added, minlength=len(depth)).astype(np.float64)


def _place_best(ranks: JudgedRanks, query: Integers, grade: Integers) -> Integers:
    """Where ranked papers of a grade above 0, by query and rank, stand in the best ranking, from 1."""
    judged = ranks.judged_grade > 0
    levels = np.unique(ranks.judged_grade[judged])
    width = len(levels) + 1

    def key(of: Integers, grades: Integers) -> Integers:
        """Rises with the query, and within it as grades fall."""
        return of * width + (len(levels) - np.searchsorted(levels, grades))

    wanted = np.sort(key(ranks.judged_query[judged], ranks.judged_grade[judged]))
    own = key(query, grade)
    better = np.searchsorted(wanted, own) - np.searchsorted(wanted, query * width)
    order = np.argsort(own, kind="stable")
    among = np.empty(len(own), dtype=np.int64)
    among[order] = count_up(own[order])
    return better + among


COMPAT: Final = Family("Compat", over_ranks(compatibility), parameters={"p": 0.95, "normalize": True})
