"""Whether two systems differ: paired tests over the same queries.

Every test is two-sided and gives the same digits at any thread count and in any order of queries.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import EvaluationError

EXACT_LIMIT: Final = 20
"""up to this many differing queries the randomisation test looks at every assignment of signs"""
_PAIRS_AT_ONCE: Final = 64
"""pairs that the same signs are drawn for at once; each has a sum for every draw in memory"""
_PLACES_AT_ONCE: Final = 32
"""queries whose signs are in memory at once, for every draw"""

Differences = NDArray[np.float64]
"""b - a for each query, in the order of the queries' ids (queries,)"""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What paired tests say about system b against system a.

    Attributes:
        mean_difference: mean of b - a over the queries.
        wins, ties, losses: queries where b is above, level with, below a.
        effect_size: mean difference over the standard deviation of the differences (Cohen's d_z);
            0 where all differences are zero, infinite where they are equal and not zero.
        interval: the t-distribution's interval of the mean difference, at `confidence`.
        t_test_p, wilcoxon_p, randomisation_p: two-sided p values; each is 1 where all differences are zero.
        randomisation_draws: the number of random assignments of signs; 0 where all were enumerated.
    """

    queries: int
    mean_difference: float
    wins: int
    ties: int
    losses: int
    effect_size: float
    confidence: float
    interval: tuple[float, float]
    t_test_p: float
    wilcoxon_p: float
    randomisation_p: float
    randomisation_draws: int


def compare(
    values_a: Mapping[str, float],
    values_b: Mapping[str, float],
    *,
    seed: int,
    draws: int = 100_000,
    confidence: float = 0.95,
) -> Comparison:
    """Paired tests of b against a over all queries; CSFCube asks for all, not for single folds.

    Raises `EvaluationError` where the queries differ, are fewer than two, or a value is not finite.
    """
    pairs = [pair_values(values_a, values_b)]
    return compare_all(pairs, seed=seed, draws=draws, confidence=confidence)[0]


def compare_all(
    pairs: Sequence[Differences], *, seed: int, draws: int = 100_000, confidence: float = 0.95
) -> list[Comparison]:
    """`compare` of many pairs, from the differences of each: the same figures, in less time.

    The randomisation test of every pair starts with the seed, so that all have the same signs: they are drawn
    once.
    """
    randomised = randomise_signs(pairs, seed=seed, draws=draws)
    return [
        _compare(differences, p, drawn, confidence)
        for differences, (p, drawn) in zip(pairs, randomised, strict=True)
    ]


def _compare(differences: Differences, randomisation_p: float, drawn: int, confidence: float) -> Comparison:
    mean, deviation = _describe(differences)
    margin = _t_margin(deviation, len(differences), confidence)
    return Comparison(
        queries=len(differences),
        mean_difference=mean,
        wins=int(np.sum(differences > 0)),
        ties=int(np.sum(differences == 0)),
        losses=int(np.sum(differences < 0)),
        effect_size=_divide(mean, deviation),
        confidence=confidence,
        interval=(mean - margin, mean + margin),
        t_test_p=t_test(differences),
        wilcoxon_p=wilcoxon_test(differences),
        randomisation_p=randomisation_p,
        randomisation_draws=drawn,
    )


def t_test(differences: Differences) -> float:
    """The p value of Student's paired t-test; 0 where all differences are equal and not zero."""
    mean, deviation = _describe(differences)
    t = _divide(mean, deviation) * math.sqrt(len(differences))
    from scipy import stats  # late: half a second, and in the extra `compute`

    return float(2 * stats.t.sf(abs(t), len(differences) - 1))


def wilcoxon_test(differences: Differences) -> float:
    """The p value of Wilcoxon's signed-rank test, zero differences left out.

    Exact up to 50 differing queries without tied magnitudes; otherwise the normal approximation with the
    correction for ties and without one for continuity.
    """
    differing = differences[differences != 0]
    if not len(differing):
        return 1.0
    is_exact = len(differing) <= 50 and len(np.unique(np.abs(differing))) == len(differing)
    method = "exact" if is_exact else "asymptotic"
    from scipy import stats  # late: as above

    return float(stats.wilcoxon(differing, zero_method="wilcox", correction=False, method=method).pvalue)


def randomise_signs(pairs: Sequence[Differences], *, seed: int, draws: int) -> list[tuple[float, int]]:
    """For each pair the p value of the paired randomisation test on the mean, and the draws it took.

    Exact, with 0 draws, for up to `EXACT_LIMIT` differing queries: the share of sign assignments whose
    mean is at least as far from zero. Otherwise (b + 1) / (draws + 1) over random assignments (Davison
    and Hinkley, 1997), never 0. Zero differences change no assignment's mean and are left out. A pair has the
    same p value whichever others stand beside it.
    """
    if draws < 1:
        raise EvaluationError(f"the number of draws is {draws}; it must be at least 1")
    found: dict[int, tuple[float, int]] = {}
    many: list[tuple[int, Differences]] = []
    for number, differences in enumerate(pairs):
        differing = differences[differences != 0]
        if len(differing) > EXACT_LIMIT:
            many.append((number, differing))
        else:
            found[number] = _enumerate_p(differing), 0
    for start in range(0, len(many), _PAIRS_AT_ONCE):
        batch = many[start : start + _PAIRS_AT_ONCE]
        summed = zip(batch, _draw_sums([one for _number, one in batch], seed, draws), strict=True)
        for (number, differing), sums in summed:
            found[number] = (_count_extreme(differing, sums) + 1) / (draws + 1), draws
    return [found[number] for number in range(len(pairs))]


def _enumerate_p(differing: Differences) -> float:
    if not len(differing):
        return 1.0
    sums = _enumerate_sums(differing)
    return _count_extreme(differing, sums) / len(sums)


def _count_extreme(differing: Differences, sums: NDArray[np.float64]) -> int:
    """How many sums are at least as far from zero as the observed one."""
    # sums that are equal on paper differ in their last bits
    observed = abs(math.fsum(differing)) - 1e-12 * math.fsum(np.abs(differing))
    return int(np.sum(np.abs(sums) >= observed))


def _enumerate_sums(differing: Differences) -> NDArray[np.float64]:
    # the first sign stays: turning every sign leaves a sum's distance from zero as it is
    sums = differing[:1]
    for difference in differing[1:]:
        sums = np.concatenate([sums + difference, sums - difference])
    return sums


def _draw_sums(pairs: Sequence[Differences], seed: int, draws: int) -> NDArray[np.float64]:
    """The sum of each pair with each assignment of signs (pairs, draws).

    A product of matrices: its last digits may depend on the number of threads, what `_count_extreme` counts
    does not.
    """
    places = max(map(len, pairs))
    padded = np.zeros((len(pairs), places))
    for row, differing in zip(padded, pairs, strict=True):
        row[: len(differing)] = differing
    generator = np.random.default_rng(seed)
    sums, added = np.zeros((len(pairs), draws)), np.empty((len(pairs), draws))
    signs = np.empty((_PLACES_AT_ONCE, draws))
    for start in range(0, places, _PLACES_AT_ONCE):
        block = signs[: min(_PLACES_AT_ONCE, places - start)]
        for row in block:
            np.multiply(generator.integers(0, 2, size=draws, dtype=np.int8), 2.0, out=row)
        block -= 1.0
        sums += np.matmul(padded[:, start : start + len(block)], block, out=added)
    return sums


def holm(p_values: Sequence[float]) -> list[float]:
    """The p values adjusted for their number by Holm's step-down method (1979), in the order given.

    Raises `EvaluationError` for a value outside 0 to 1.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    for p_value in p_values:
        if not 0 <= p_value <= 1:
            raise EvaluationError(f"{p_value} is not a p value; expected a number from 0 to 1")
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for step, place in enumerate(sorted(range(len(p_values)), key=lambda place: p_values[place])):
        largest = max(largest, min(1.0, (len(p_values) - step) * p_values[place]))
        adjusted[place] = largest
    return adjusted


def pair_values(values_a: Mapping[str, float], values_b: Mapping[str, float]) -> Differences:
    """The differences b - a of two systems' values of queries.

    Raises `EvaluationError` where the queries differ, are fewer than two, or a value is not finite.
    """
    unpaired = sorted(values_a.keys() ^ values_b.keys())
    if unpaired:
        raise EvaluationError(
            f"one system alone has a value of {len(unpaired)} of the queries, such as {unpaired[0]!r}; "
            "evaluate both against the same judgments, where a missing query is worth zero"
        )
    if len(values_a) < 2:
        raise EvaluationError(f"a comparison needs at least two queries, and there is {len(values_a)}")
    for query_id in sorted(values_a):
        if not (math.isfinite(values_a[query_id]) and math.isfinite(values_b[query_id])):
            raise EvaluationError(f"a value of query {query_id!r} is not a finite number; evaluate it again")
    return np.array([values_b[query_id] - values_a[query_id] for query_id in sorted(values_a)])


def _describe(differences: Differences) -> tuple[float, float]:
    """Mean and standard deviation (n - 1); exactly 0 where all differences are equal."""
    mean = math.fsum(differences) / len(differences)
    if np.all(differences == differences[0]):
        return float(differences[0]), 0.0
    squares = math.fsum((difference - mean) ** 2 for difference in differences)
    return mean, math.sqrt(squares / (len(differences) - 1))


def _divide(mean: float, deviation: float) -> float:
    if deviation == 0:
        return math.copysign(math.inf, mean) if mean else 0.0
    return mean / deviation


def _t_margin(deviation: float, queries: int, confidence: float) -> float:
    if not 0 < confidence < 1:
        raise EvaluationError(
            f"the confidence is {confidence}; expected a number between 0 and 1, such as 0.95"
        )
    from scipy import stats  # late: as above

    return float(stats.t.ppf((1 + confidence) / 2, queries - 1)) * deviation / math.sqrt(queries)
