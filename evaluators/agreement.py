"""How far people who grade the same items agree: Spearman, Krippendorff, Cohen, per cent.

Grades are whole numbers, and all is counted in whole numbers until the last division, so that neither the
order of the items nor that of the assessors changes a digit. A coefficient that has no value (nothing was
graded twice, or chance alone cannot differ) is None, never NaN.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Final, Literal, TypeVar

from pinakes.errors import EvaluationError, UnknownNameError

Distance = Literal["nominal", "ordinal", "interval"]
Weights = Literal["unweighted", "linear", "quadratic"]

_Rule = TypeVar("_Rule")
_Grades = Sequence[int]
_Counts = Mapping[int, int]  # grade -> how often it was given


def percent_agreement(a: _Grades, b: _Grades) -> float | None:
    """The percentage of the items, 0 to 100, that both assessors grade alike; None without an item.

    >>> percent_agreement([0, 1, 2, 3], [0, 1, 2, 2])
    75.0
    """
    _require_pairs(a, b)
    return 100 * sum(x == y for x, y in zip(a, b, strict=True)) / len(a) if a else None


def spearman(a: _Grades, b: _Grades) -> float | None:
    """Spearman's rank correlation of two assessors, -1 to 1; equal grades share the mean of their ranks.

    None where one assessor gives all items the same grade, or there is no item.

    >>> spearman([1, 2, 3, 4], [4, 3, 2, 1])
    -1.0
    """
    _require_pairs(a, b)
    x, y = _double_ranks(a), _double_ranks(b)
    spread = _covary(x, x) * _covary(y, y)
    return _covary(x, y) / math.sqrt(spread) if spread else None


def cohen_kappa(a: _Grades, b: _Grades, weights: Weights = "unweighted") -> float | None:
    """Cohen's kappa (1960) of two assessors: 1 in full agreement, 0 at what their own habits give by chance.

    `linear` and `quadratic` weigh a disagreement by the difference of the grades or its square (Cohen, 1968).
    None where both give all items one and the same grade, so that chance agrees fully, or there is no item.

    >>> cohen_kappa([0, 0, 1, 1], [0, 1, 1, 1])
    0.5

    Raises:
        UnknownNameError: there are no such weights.
    """
    _require_pairs(a, b)
    weigh = _choose(_WEIGHTS, "weights", weights)
    observed = sum(weigh(x, y) for x, y in zip(a, b, strict=True))
    columns = Counter(b)
    by_chance = sum(n * columns[y] * weigh(x, y) for x, n in Counter(a).items() for y in columns)
    return float(1 - Fraction(len(a) * observed, by_chance)) if by_chance else None


def krippendorff_alpha(
    ratings: Sequence[Sequence[int | None]], distance: Distance = "ordinal"
) -> float | None:
    """Krippendorff's alpha of any number of assessors: 1 in full agreement, 0 at chance.

    Follows "Computing Krippendorff's Alpha-Reliability" (2011), section E: an item with a single grade counts
    for nothing. None where no item has two grades, or all grades of those that have are equal.

    Args:
        ratings: for each assessor a grade of each item, None where it was not graded.
        distance: between grades, squared: `nominal`, equal or not; `interval`, their difference; `ordinal`,
            how many grades were given from the one to the other, half of those two themselves.

    Raises:
        EvaluationError: the assessors have different numbers of items.
        UnknownNameError: there is no such distance.

    >>> krippendorff_alpha([[0, 0, 1, None], [0, 1, 1, 3]], "nominal")
    0.4444444444444444
    """
    measure = _choose(_DISTANCES, "distance", distance)
    for row in ratings:
        _require_pairs(ratings[0], row)
    items = Counter(
        tuple(sorted(grade for grade in item if grade is not None)) for item in zip(*ratings, strict=True)
    )
    paired = {item: times for item, times in items.items() if len(item) > 1}
    counts: Counter[int] = Counter()
    for item, times in paired.items():
        counts.update({grade: n * times for grade, n in Counter(item).items()})
    apart = {(c, k): measure(c, k, counts) for c, k in combinations(sorted(counts), 2)}
    by_chance = sum(counts[c] * counts[k] * squared for (c, k), squared in apart.items())
    observed = sum(
        Fraction(times * sum(apart.get(pair, 0) for pair in combinations(item, 2)), len(item) - 1)
        for item, times in paired.items()
    )
    return float(1 - (counts.total() - 1) * observed / by_chance) if by_chance else None


def _nominal(_c: int, _k: int, _counts: _Counts) -> int:
    return 1


def _ordinal(c: int, k: int, counts: _Counts) -> int:
    """Four times the squared distance, which stays whole; a constant factor cancels out of alpha."""
    between = sum(n for grade, n in counts.items() if c <= grade <= k)
    return (2 * between - counts[c] - counts[k]) ** 2


def _interval(c: int, k: int, _counts: _Counts) -> int:
    return (c - k) ** 2


_DISTANCES: Final[Mapping[str, Callable[[int, int, _Counts], int]]] = {
    "nominal": _nominal,
    "ordinal": _ordinal,
    "interval": _interval,
}
_WEIGHTS: Final[Mapping[str, Callable[[int, int], int]]] = {
    "unweighted": lambda x, y: int(x != y),
    "linear": lambda x, y: abs(x - y),
    "quadratic": lambda x, y: (x - y) ** 2,
}


def _choose(known: Mapping[str, _Rule], kind: str, name: str) -> _Rule:
    if name not in known:
        raise UnknownNameError(kind, name, list(known))
    return known[name]


def _require_pairs(a: Sequence[object], b: Sequence[object]) -> None:
    if len(a) != len(b):
        raise EvaluationError(
            f"two assessors grade {len(a)} and {len(b)} items; expected a grade of each for every item"
        )


def _double_ranks(grades: _Grades) -> list[int]:
    """Twice the rank of each item, 1 the lowest grade; equal grades share the mean of their ranks.

    >>> _double_ranks([5, 1, 5])
    [5, 2, 5]
    """
    counts = Counter(grades)
    ranks, below = {}, 0
    for grade in sorted(counts):
        ranks[grade] = 2 * below + counts[grade] + 1
        below += counts[grade]
    return [ranks[grade] for grade in grades]


def _covary(x: Sequence[int], y: Sequence[int]) -> int:
    """n times the sum of products around the means."""
    return len(x) * sum(map(int.__mul__, x, y)) - sum(x) * sum(y)
