"""CSFCube's measures and nDCG%: hand-worked examples, and trec_eval where the definitions meet."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.errors import EvaluationError
from tests.scoring import RankedPaper, evaluate


def values_of(grades: Sequence[int], measures: Sequence[str]) -> list[float]:
    ranking = [RankedPaper(f"{place:03}", -float(place)) for place in range(len(grades))]
    judged = {f"{place:03}": grade for place, grade in enumerate(grades)}
    return [score.value for score in evaluate({"q": ranking}, {"q": judged}, measures)]


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("CSFCube.nDCG%100", 0.9203032),
        ("nDCG%100", 0.9651955),
        ("nDCG", 0.9651955),
    ],
)
def test_gain_equals_the_golden_example_of_the_script(measure: str, expected: float) -> None:
    (value,) = values_of([2, 1, 2, 0], [measure])
    assert round(value, 7) == expected


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("CSFCube.RP", 2 / 3),
        ("Rprec(rel=2)", 1 / 2),
        ("CSFCube.P@2", 1 / 2),
        ("CSFCube.P@20", 2 / 20),
        ("CSFCube.R@1", 1 / 2),
        ("CSFCube.R@20", 1.0),
        ("CSFCube.F1@2", 1 / 2),
        ("CSFCube.F1@20", 2 * 0.1 / 1.1),
        ("CSFCube.AP", (1 / 1 + 2 / 3) / 2),
        ("CSFCube.RR", 1.0),
        ("CSFCube.nDCG@2", (2 + 1) / (2 + 2)),
        ("CSFCube.nDCG@3", (2 + 1 + 2 / math.log2(3)) / (2 + 2 + 1 / math.log2(3))),
        ("CSFCube.nDCG%50", (2 + 1) / (2 + 2)),
        ("nDCG%50", (2 + 1 / math.log2(3)) / (2 + 2 / math.log2(3))),
    ],
)
def test_measure_equals_the_hand_worked_example(measure: str, expected: float) -> None:
    (value,) = values_of([2, 1, 2, 0], [measure])
    assert value == pytest.approx(expected, abs=1e-15)


OWN = [
    "CSFCube.RP",
    "CSFCube.P@20",
    "CSFCube.R@20",
    "CSFCube.F1@20",
    "CSFCube.AP",
    "CSFCube.RR",
    "CSFCube.nDCG@20",
    "CSFCube.nDCG%20",
    "CSFCube.nDCG%100",
    "nDCG%20",
]


def test_a_pool_without_gain_is_worth_zero() -> None:
    assert values_of([0] * 10, OWN) == [0.0] * len(OWN)


def test_a_negative_grade_gains_nothing_as_in_trec_eval() -> None:
    expected = 2 / math.log2(3) / 2
    assert values_of([-2, 2], ["nDCG%100", "nDCG"]) == pytest.approx([expected, expected], abs=1e-12)


def test_grade_one_gains_but_is_not_relevant() -> None:
    assert values_of([1, 0], ["CSFCube.AP", "CSFCube.RP", "CSFCube.RR", "CSFCube.nDCG%100"]) == [0, 0, 0, 1]


@pytest.mark.parametrize(("pool", "ranks"), [(4, 0), (5, 1), (9, 1), (10, 2), (88, 17), (101, 20), (250, 50)])
def test_a_share_of_the_pool_is_rounded_down(pool: int, ranks: int) -> None:
    # the only gain stands at the last rank that counts, then one below it
    if ranks:
        (value,) = values_of([0] * (ranks - 1) + [1] + [0] * (pool - ranks), ["nDCG%20"])
        assert value == pytest.approx(1 / math.log2(ranks + 1), abs=1e-15)
    assert values_of([0] * ranks + [1] + [0] * (pool - ranks - 1), ["nDCG%20", "CSFCube.nDCG%20"]) == [
        0.0,
        0.0,
    ]


def test_given_order_counts_and_not_the_score() -> None:
    ranking = [RankedPaper("a", 1.0), RankedPaper("b", 9.0)]
    scores = evaluate({"q": ranking}, {"q": {"a": 2, "b": 0}}, ["CSFCube.RR", "RR(rel=2)"])
    assert [score.value for score in scores] == [1.0, 1 / 2]


def test_lacking_papers_follow_at_the_end_by_id_descending() -> None:
    # the pool is ranked a, 9, 10
    judged = {"10": 0, "9": 2, "a": 0}
    scores = evaluate({"q": [RankedPaper("a", 1.0)]}, {"q": judged}, ["CSFCube.RR", "CSFCube.RP"])
    assert [score.value for score in scores] == [1 / 2, 1 / 2]


def test_leaving_papers_out_does_not_shrink_the_pool() -> None:
    judged = {f"{place}": 0 for place in range(9)} | {"z": 2}
    short = evaluate({"q": [RankedPaper("z", 1.0)]}, {"q": judged}, ["CSFCube.nDCG%20", "nDCG%20"])
    assert [score.value for score in short] == [1.0, 1.0]


@pytest.mark.parametrize("measure", OWN)
def test_a_paper_outside_the_pool_is_refused(measure: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        evaluate({"q1": [RankedPaper("x", 1.0)]}, {"q1": {"a": 2}}, [measure])
    assert str(caught.value) == (
        "query 'q1' ranks paper 'x', which is not in its judged pool of 1; "
        "rank the pool alone, or choose measures that allow unjudged papers"
    )


@pytest.mark.parametrize("measure", OWN)
def test_a_missing_query_is_worth_zero(measure: str) -> None:
    (score,) = evaluate({}, {"q": {"a": 2}}, [measure])
    assert (score.value, score.queries_expected, score.queries_answered) == (0.0, 1, 0)


SAME = {
    "CSFCube.P@20": "P(rel=2)@20",
    "CSFCube.R@20": "R(rel=2)@20",
    "CSFCube.AP": "AP(rel=2)",
    "CSFCube.RR": "RR(rel=2)",
    "nDCG%100": "nDCG",
}


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40))
def test_a_fully_ranked_pool_scores_as_in_trec_eval_where_definitions_meet(grades: list[int]) -> None:
    assert values_of(grades, list(SAME)) == pytest.approx(values_of(grades, list(SAME.values())), abs=1e-12)
    share = len(grades) // 5
    if share:
        assert values_of(grades, ["nDCG%20"]) == pytest.approx(
            values_of(grades, [f"nDCG@{share}"]), abs=1e-12
        )


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40))
def test_values_lie_from_zero_to_one_and_the_ideal_order_gains_everything(grades: list[int]) -> None:
    assert all(0 <= value <= 1 for value in values_of(grades, OWN))
    if any(grades):
        assert values_of(sorted(grades, reverse=True), ["CSFCube.nDCG%100", "nDCG%100"]) == [1.0, 1.0]
