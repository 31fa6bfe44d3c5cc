"""Every pair of systems tested on the same resamples; p values corrected by Holm over the pairs."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Generic, TypeVar

from pinakes.evaluators.bootstrap import Values, find_interval, paired_p
from pinakes.evaluators.significance import holm

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Difference(Generic[K]):
    """System b minus system a: the difference, its 95 % interval, and its p value before and after Holm."""

    a: K
    b: K
    difference: float
    interval: tuple[float, float]
    p: float
    holm_p: float


def compare_resampled(values: Mapping[K, float], resampled: Mapping[K, Values]) -> list[Difference[K]]:
    """The differences of all pairs, in the order of `values`; `resampled` has the resamples of each (n,)."""
    pairs = list(combinations(values, 2))
    drawn = [resampled[b] - resampled[a] for a, b in pairs]
    differences = [values[b] - values[a] for a, b in pairs]
    p_values = [paired_p(*given) for given in zip(differences, drawn, strict=True)]
    return [
        Difference(a, b, difference, find_interval(resamples), p, corrected)
        for (a, b), difference, resamples, p, corrected in zip(
            pairs, differences, drawn, p_values, holm(p_values), strict=True
        )
    ]
