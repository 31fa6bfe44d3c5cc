"""Coefficients of agreement against hand-worked and published examples."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.errors import EvaluationError, UnknownNameError
from pinakes.evaluators.agreement import (
    Distance,
    Weights,
    cohen_kappa,
    krippendorff_alpha,
    percent_agreement,
    spearman,
)

Coefficient = Callable[[Sequence[int], Sequence[int]], float | None]


def alpha(a: Sequence[int], b: Sequence[int]) -> float | None:
    return krippendorff_alpha([a, b])


COEFFICIENTS: dict[str, Coefficient] = {
    "percent": percent_agreement,
    "rho": spearman,
    "kappa": cohen_kappa,
    "linear": lambda a, b: cohen_kappa(a, b, "linear"),
    "quadratic": lambda a, b: cohen_kappa(a, b, "quadratic"),
    "nominal": lambda a, b: krippendorff_alpha([a, b], "nominal"),
    "ordinal": alpha,
    "interval": lambda a, b: krippendorff_alpha([a, b], "interval"),
}
ALL = pytest.mark.parametrize("name", COEFFICIENTS)
PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=30)

# "Computing Krippendorff's Alpha-Reliability" (2011), section C: four observers of twelve units
OBSERVERS: list[list[int | None]] = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


@pytest.mark.parametrize(
    ("distance", "printed"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_equals_krippendorffs_own_example(distance: Distance, printed: float) -> None:
    found = krippendorff_alpha(OBSERVERS, distance)
    assert found is not None
    assert round(found, 3) == printed


def test_nominal_alpha_equals_krippendorffs_example_of_two_observers() -> None:
    # his section A: of ten units four differ, and of the twenty values 14 are 0 and 6 are 1
    a = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    b = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert krippendorff_alpha([a, b], "nominal") == pytest.approx(1 - 19 * 4 / (14 * 6), abs=1e-15)


def test_ordinal_alpha_equals_the_hand_worked_example() -> None:
    # units 0-0, 0-1, 2-2: counts 0: 3, 1: 1, 2: 2; squared distances 0-1: (4 - 2)^2 = 4,
    # 0-2: (6 - 2.5)^2 = 12.25, 1-2: (3 - 1.5)^2 = 2.25; by chance 3*4 + 6*12.25 + 2*2.25 = 90
    assert krippendorff_alpha([[0, 0, 2], [0, 1, 2]]) == pytest.approx(1 - 5 * 4 / 90, abs=1e-15)


def test_an_item_with_one_grade_counts_for_nothing() -> None:
    with_single = [[0, 0, 2, 3, None], [0, 1, 2, None, None]]
    assert krippendorff_alpha(with_single) == krippendorff_alpha([[0, 0, 2], [0, 1, 2]])


def test_kappa_equals_the_hand_worked_examples() -> None:
    # the table of 50 proposals 20, 5, 10, 15: agreement 0.7, by chance 0.5 * 0.6 + 0.5 * 0.4 = 0.5
    a = [1] * 25 + [0] * 25
    b = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    assert cohen_kappa(a, b) == pytest.approx(0.4, abs=1e-15)
    # grades 0-0, 0-1, 2-2, 2-0: rows 2, 0, 2; columns 2, 1, 1; disagreements 2 of 4
    a, b = [0, 0, 2, 2], [0, 1, 2, 0]
    assert cohen_kappa(a, b) == pytest.approx(1 - 4 * 2 / (2 * 2 + 2 * 3), abs=1e-15)
    assert cohen_kappa(a, b, "linear") == pytest.approx(1 - 4 * 3 / (2 * 3 + 2 * 5), abs=1e-15)
    assert cohen_kappa(a, b, "quadratic") == pytest.approx(1 - 4 * 5 / (2 * 5 + 2 * 9), abs=1e-15)


def test_spearman_gives_equal_grades_the_mean_of_their_ranks() -> None:
    # ranks 1.5, 1.5, 3, 4 and 1, 2.5, 2.5, 4; around 2.5: products 1.5 + 0 + 0 + 2.25, squares 4.5 each
    assert spearman([0, 0, 1, 2], [0, 1, 1, 3]) == pytest.approx(3.75 / 4.5, abs=1e-15)


def test_percent_agreement_is_a_percentage() -> None:
    assert percent_agreement([0, 1, 2], [0, 2, 2]) == pytest.approx(200 / 3, abs=1e-12)


@ALL
def test_full_agreement_is_one(name: str) -> None:
    grades = [0, 0, 1, 3, 2, 2, 0]
    assert COEFFICIENTS[name](grades, grades) == (100.0 if name == "percent" else 1.0)


@ALL
def test_independent_grades_agree_by_chance(name: str) -> None:
    # every combination once: what kappa and rho call chance; alpha, for small samples, lies a little above
    a, b = [0, 0, 1, 1], [0, 1, 0, 1]
    above = 1 - (8 - 1) * 2 / (4 * 4)
    expected = {"percent": 50.0, "nominal": above, "ordinal": above, "interval": above}
    assert COEFFICIENTS[name](a, b) == pytest.approx(expected.get(name, 0.0), abs=1e-15)


def test_reversed_grades_disagree_beyond_chance() -> None:
    a, b = [0, 1, 2, 3], [3, 2, 1, 0]
    assert (percent_agreement(a, b), spearman(a, b)) == (0.0, -1.0)
    assert cohen_kappa(a, b) == pytest.approx(-1 / 3, abs=1e-15)
    assert cohen_kappa(a, b, "quadratic") == -1.0
    assert krippendorff_alpha([a, b], "interval") == pytest.approx(1 - 7 * 20 / 80, abs=1e-15)


def test_a_coefficient_without_a_value_is_none() -> None:
    empty = {name: coefficient([], []) for name, coefficient in COEFFICIENTS.items()}
    assert empty == dict.fromkeys(COEFFICIENTS)
    same = {name: coefficient([1, 1], [1, 1]) for name, coefficient in COEFFICIENTS.items()}
    assert same == {**dict.fromkeys(COEFFICIENTS), "percent": 100.0}
    one_constant = {name: coefficient([1, 1], [0, 1]) for name, coefficient in COEFFICIENTS.items()}
    assert one_constant["rho"] is None
    assert (one_constant["kappa"], one_constant["nominal"]) == (0.0, 0.0)
    assert krippendorff_alpha([]) is None
    assert krippendorff_alpha([[1, None], [None, 2]]) is None


def test_assessors_of_different_numbers_of_items_are_refused() -> None:
    for coefficient in COEFFICIENTS.values():
        with pytest.raises(EvaluationError, match="two assessors grade 1 and 2 items"):
            coefficient([1], [1, 2])


def test_unknown_rules_are_refused_with_the_known_ones() -> None:
    distance: Distance = "ratio"  # type: ignore[assignment]
    weights: Weights = "cubic"  # type: ignore[assignment]
    with pytest.raises(UnknownNameError, match="distance 'ratio'; known: interval, nominal, ordinal"):
        krippendorff_alpha([[1], [2]], distance)
    with pytest.raises(UnknownNameError, match="weights 'cubic'; known: linear, quadratic, unweighted"):
        cohen_kappa([1], [2], weights)


@ALL
@given(pairs=PAIRS, data=st.data())
def test_neither_the_order_of_items_nor_of_assessors_changes_a_digit(
    name: str, pairs: list[tuple[int, int]], data: st.DataObject
) -> None:
    coefficient = COEFFICIENTS[name]
    shuffled = data.draw(st.permutations(pairs))
    found = coefficient([a for a, _ in pairs], [b for _, b in pairs])
    assert coefficient([b for _, b in shuffled], [a for a, _ in shuffled]) == found


@ALL
@given(pairs=PAIRS)
def test_no_coefficient_is_above_full_agreement_or_not_a_number(
    name: str, pairs: list[tuple[int, int]]
) -> None:
    found = COEFFICIENTS[name]([a for a, _ in pairs], [b for _, b in pairs])
    top = 100 if name == "percent" else 1
    assert found is None or -top <= found <= top


@given(pairs=PAIRS, step=st.integers(1, 5))
def test_rho_kappa_and_ordinal_alpha_only_see_the_order_of_the_grades(
    pairs: list[tuple[int, int]], step: int
) -> None:
    a, b = [a for a, _ in pairs], [b for _, b in pairs]
    for coefficient in (spearman, cohen_kappa, alpha):
        stretched = coefficient([step * grade**2 for grade in a], [step * grade**2 for grade in b])
        assert stretched == coefficient(a, b)
