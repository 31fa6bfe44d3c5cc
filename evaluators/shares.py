"""`nDCG%20`: nDCG over the first fifth of a judged pool, in the ranking's given order.

The discount is trec_eval's.
"""

import math
from typing import Final

from pinakes.evaluators.given_order import Grades, pool_family


def normalised_gain(grades: Grades, ranks: int) -> float:
    """nDCG over the first `ranks`: linear gains, 1 / log2(rank + 1); 0 where nothing has a gain.

    A pool too small for one rank gives 0.

    >>> round(normalised_gain([2, 1, 2, 0], 4), 7)
    0.9651955
    """
    ideal = _discounted_gain(sorted(grades, reverse=True)[:ranks])
    return _discounted_gain(grades[:ranks]) / ideal if ideal > 0 else 0.0


def _discounted_gain(grades: Grades) -> float:
    # a negative grade ("judged, worse than not relevant") gains nothing, as in trec_eval
    return math.fsum(max(grade, 0) / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1))


NDCG_SHARE: Final = pool_family("nDCG", normalised_gain, "share")
