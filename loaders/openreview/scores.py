"""Numbers that reviewers gave, out of what OpenReview's forms hold.

Leaves out: which field of which note is asked (`notes`).
"""

import math
import re
from typing import Final

_CAPTIONED: Final = re.compile(r"\s*([+-]?\d{1,9}(?:\.\d{1,9})?)\s*(?:[:：].*)?")
_GRADED: Final = re.compile(r"\s*([+-]?\d{1,9}(?:\.\d{1,9})?)(?:\s*[:：,;(–-].*|\s+\D.*)?")
_LONGEST: Final = 400  # characters; a caption is a sentence, a review that begins with a number is longer


def parse_score(value: object, *, is_score: bool = False) -> float | None:
    """The number of a score, or at the start of its caption; None where the value is no score.

    Args:
        value: a field of a review.
        is_score: whether the field is known to hold a score, so that a caption may follow without a colon.

    >>> parse_score("8: Top 50% of accepted papers"), parse_score(6), parse_score("1. We thank the authors")
    (8.0, 6.0, None)
    >>> parse_score("3 good"), parse_score("3 good", is_score=True)
    (None, 3.0)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _take_finite(value)
    if not isinstance(value, str) or len(value) > _LONGEST:
        return None
    found = (_GRADED if is_score else _CAPTIONED).fullmatch(value)
    return None if found is None else float(found[1])


def _take_finite(value: float) -> float | None:
    # A whole number beyond the range of a float cannot be converted, and is no score.
    if abs(value) > 1e9 or not math.isfinite(value):
        return None
    return float(value)
