import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pinakes.errors import EvaluationError
from pinakes.evaluators import significance
from pinakes.evaluators.significance import Comparison, compare, holm, randomise_signs


def compare_differences(*differences: float, seed: int = 1, draws: int = 1000) -> Comparison:
    zeros = {f"{place:04}": 0.0 for place in range(len(differences))}
    return compare(zeros, dict(zip(zeros, differences, strict=True)), seed=seed, draws=draws)


def test_comparison_equals_the_hand_worked_example() -> None:
    # differences 1, 2, 3: mean 2, deviation 1, t = 2 * sqrt(3) with 2 degrees of freedom, for which
    # p = 1 - t / sqrt(t**2 + 2) and the quantile of 0.975 is 0.95 * sqrt(2 / (1 - 0.95**2));
    # of the 8 sign assignments two are as far from zero
    result = compare_differences(1.0, 2.0, 3.0)
    t = 2 * math.sqrt(3)
    quantile = 0.95 * math.sqrt(2 / (1 - 0.95**2))
    assert result.t_test_p == pytest.approx(1 - t / math.sqrt(t**2 + 2), abs=1e-12)
    assert result.interval == pytest.approx(
        (2 - quantile / math.sqrt(3), 2 + quantile / math.sqrt(3)), abs=1e-9
    )
    assert (result.wilcoxon_p, result.randomisation_p, result.randomisation_draws) == (0.25, 0.25, 0)
    assert (result.mean_difference, result.effect_size, result.queries) == (2.0, 2.0, 3)
    assert (result.wins, result.ties, result.losses, result.confidence) == (3, 0, 0, 0.95)


def test_wilcoxon_is_exact_without_tied_magnitudes() -> None:
    # ranks of the magnitudes: -1, 2, 3, 4; sums of the negative ranks up to 1: {} and {1}; 2 * 2 / 16
    assert compare_differences(-0.1, 0.2, 0.3, 0.4).wilcoxon_p == pytest.approx(0.25, abs=1e-15)


def test_wilcoxon_with_tied_magnitudes_is_the_corrected_normal_approximation() -> None:
    # mid-ranks 1.5, 1.5, 3; negative sum 1.5; mean 3; variance 3*4*7/24 - (2**3 - 2)/48
    z = (1.5 - 3) / math.sqrt(3.5 - 6 / 48)
    assert compare_differences(1.0, -1.0, 2.0).wilcoxon_p == pytest.approx(
        math.erfc(-z / math.sqrt(2)), abs=1e-12
    )


def test_zero_differences_stay_in_the_mean_and_leave_the_rank_test() -> None:
    result = compare_differences(0.0, -0.1, 0.2, 0.3, 0.4)
    assert (result.wins, result.ties, result.losses) == (3, 1, 1)
    assert result.mean_difference == pytest.approx(0.16, abs=1e-15)
    assert result.wilcoxon_p == pytest.approx(0.25, abs=1e-15)


def test_equal_systems_have_p_one_and_no_effect() -> None:
    result = compare_differences(0.0, 0.0, 0.0)
    assert result == Comparison(3, 0.0, 0, 3, 0, 0.0, 0.95, (0.0, 0.0), 1.0, 1.0, 1.0, 0)


def test_a_constant_difference_has_an_infinite_effect() -> None:
    result = compare_differences(-0.1, -0.1, -0.1)
    assert (result.effect_size, result.t_test_p, result.interval) == (-math.inf, 0.0, (-0.1, -0.1))
    assert result.randomisation_p == 0.25


@given(st.lists(st.sampled_from([-0.3, -0.1, 0.0, 0.1, 0.2, 0.3]), min_size=1, max_size=8))
def test_exact_randomisation_equals_the_enumeration_of_all_signs(differences: list[float]) -> None:
    # tenths as whole numbers: sums that are equal on paper are equal here
    tenths = [round(10 * difference) for difference in differences]
    signs = list(itertools.product([1, -1], repeat=len(tenths)))
    sums = [sum(sign * tenth for sign, tenth in zip(row, tenths, strict=True)) for row in signs]
    expected = sum(abs(total) >= abs(sum(tenths)) for total in sums) / len(sums)
    ((p_value, draws),) = randomise_signs([np.array(differences)], seed=1, draws=10)
    assert draws == 0
    assert p_value == pytest.approx(expected, abs=1e-15)


def test_sampled_randomisation_is_never_zero() -> None:
    # 21 differences of one sign: 2 of 2**21 assignments are as extreme, and 99 draws meet neither
    assert randomise_signs([np.ones(21)], seed=7, draws=99) == [(1 / 100, 99)]


def test_sampled_randomisation_is_near_the_binomial_distribution() -> None:
    # 16 wins and 9 losses of one size: P(X <= 9 or X >= 16) for 25 fair coins
    expected = 2 * sum(math.comb(25, heads) for heads in range(10)) / 2**25
    ((p_value, draws),) = randomise_signs([np.array([1.0] * 16 + [-1.0] * 9)], seed=3, draws=40_000)
    assert draws == 40_000
    assert p_value == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / draws))


def test_randomisation_follows_the_seed_alone() -> None:
    generator = random.Random(5)
    differences = [generator.gauss(0.1, 1) for _ in range(60)]
    first = compare_differences(*differences, seed=11)
    assert compare_differences(*differences, seed=11) == first
    assert compare_differences(*differences, seed=12).randomisation_p != first.randomisation_p


def draw_each_alone(differences: NDArray[np.float64], seed: int, draws: int) -> float:
    """The p value as one pair had it before pairs shared their signs."""
    generator = np.random.default_rng(seed)
    sums = np.zeros(draws)
    for difference in differences[differences != 0]:
        signs = generator.integers(0, 2, size=draws, dtype=np.int8)
        sums += np.where(signs == 1, difference, -difference)
    observed = abs(math.fsum(differences)) - 1e-12 * math.fsum(abs(differences))
    return float((np.sum(abs(sums) >= observed) + 1) / (draws + 1))


def test_a_pair_has_the_same_p_value_alone_and_beside_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(significance, "_PAIRS_AT_ONCE", 2)
    generator = np.random.default_rng(4)
    pairs = [np.round(generator.normal(0.1, 1, size=count), 1) for count in (40, 90, 12, 25, 0, 60)]
    together = randomise_signs(pairs, seed=9, draws=2_000)
    assert together == [randomise_signs([one], seed=9, draws=2_000)[0] for one in pairs]
    drawn = [(one, p) for one, (p, draws) in zip(pairs, together, strict=True) if draws]
    assert [p for _one, p in drawn] == [draw_each_alone(one, 9, 2_000) for one, _p in drawn]
    assert [draws for _p, draws in together] == [2_000, 2_000, 0, 2_000, 0, 2_000]


@given(st.lists(st.floats(-1, 1, width=16), min_size=2, max_size=30))
def test_swapping_the_systems_turns_the_sign_and_keeps_the_p_values(differences: list[float]) -> None:
    one = compare_differences(*differences)
    other = compare_differences(*[-difference for difference in differences])
    assert (other.wins, other.ties, other.losses) == (one.losses, one.ties, one.wins)
    assert other.mean_difference == -one.mean_difference
    assert other.t_test_p == one.t_test_p
    assert other.wilcoxon_p == pytest.approx(one.wilcoxon_p, abs=1e-12)
    assert other.randomisation_p == one.randomisation_p


def test_order_of_the_queries_changes_no_digit() -> None:
    generator = random.Random(9)
    values_a = {str(query): generator.random() for query in range(40)}
    values_b = {str(query): generator.random() for query in range(40)}
    turned = [dict(reversed(values.items())) for values in (values_a, values_b)]
    assert compare(*turned, seed=1, draws=500) == compare(values_a, values_b, seed=1, draws=500)


@pytest.mark.parametrize(
    ("values_a", "values_b", "message"),
    [
        ({"1": 0.5, "2": math.nan}, {"1": 0.5, "2": 0.5}, "a value of query '2' is not a finite number"),
        ({"1": 0.5, "2": 0.5}, {"1": 0.5, "2": math.inf}, "a value of query '2' is not a finite number"),
        ({"1": 0.5, "2": 0.5}, {"1": 0.5}, "one system alone has a value of 1 of the queries, such as '2'"),
        ({"1": 0.5}, {"1": 0.6}, "a comparison needs at least two queries, and there is 1"),
    ],
)
def test_what_cannot_be_compared_is_named(
    values_a: dict[str, float], values_b: dict[str, float], message: str
) -> None:
    with pytest.raises(EvaluationError, match=message):
        compare(values_a, values_b, seed=1)


def test_a_confidence_outside_zero_to_one_is_refused() -> None:
    with pytest.raises(EvaluationError, match=r"the confidence is 95; expected a number between 0 and 1"):
        compare({"1": 0.5, "2": 0.5}, {"1": 0.5, "2": 0.6}, seed=1, confidence=95)


def test_no_draws_are_refused() -> None:
    with pytest.raises(EvaluationError, match="the number of draws is 0; it must be at least 1"):
        randomise_signs([np.ones(30)], seed=1, draws=0)


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        ([], []),
        ([0.2], [0.2]),
        # 4 * 0.005, 3 * 0.01, then max(0.03, 2 * 0.03) and max(0.06, 0.04)
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.5, 0.5, 0.9], [1.0, 1.0, 1.0]),
        ([0.0, 1.0], [0.0, 1.0]),
    ],
)
def test_holm_equals_the_hand_worked_example(p_values: list[float], adjusted: list[float]) -> None:
    assert holm(p_values) == pytest.approx(adjusted, abs=1e-15)


@pytest.mark.parametrize("p_value", [math.nan, -0.1, 1.1])
def test_holm_refuses_what_is_not_a_p_value(p_value: float) -> None:
    with pytest.raises(EvaluationError, match="is not a p value; expected a number from 0 to 1"):
        holm([0.5, p_value])
