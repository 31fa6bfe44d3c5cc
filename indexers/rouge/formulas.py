"""Scores from counts, in the order of operations of the two packages: equal counts give equal floats.

Every function takes whole numbers or arrays of them alike.
"""

from typing import Any, Final, Literal

import numpy as np

from pinakes.errors import UnknownNameError

Metric = Literal["rouge1", "rouge2", "rougeL"]
Stat = Literal["f", "recall"]
METRICS: Final = ("rouge1", "rouge2", "rougeL")
STATS: Final = ("f", "recall")
ORDERS: Final = {"rouge1": 1, "rouge2": 2, "rougeL": 1}  # tokens that one counted thing has
_EPSILON: Final = 1e-8  # of rouge 1.0.1


def check_measure(metric: str, stat: str) -> None:
    """Pass where metric and stat have known names.

    Raises:
        UnknownNameError: they have not.
    """
    if metric not in METRICS:
        raise UnknownNameError("ROUGE metric", metric, list(METRICS))
    if stat not in STATS:
        raise UnknownNameError("ROUGE stat", stat, list(STATS))


def compute_scores(overlap: Any, size: Any, reference_size: int, stat: str, *, distinct: bool) -> Any:
    """F or recall, float64, of what hypothesis and reference share and how much each has.

    F1 is 2PR / (P + R), and 2PR / (P + R + 1e-8) where n-grams are `distinct`. Nothing to share is 0.

    >>> float(compute_scores(3, 4, 6, "recall", distinct=False))
    0.5
    >>> float(compute_scores(5, 6, 6, "f", distinct=True))
    0.8333333283333335
    """
    recall = np.true_divide(overlap, max(reference_size, 1))
    if stat == "recall":
        return recall
    precision = np.true_divide(overlap, np.maximum(size, 1))
    total = precision + recall
    if distinct:
        return 2.0 * ((precision * recall) / (total + _EPSILON))
    return 2 * precision * recall / np.where(total > 0, total, 1.0)
