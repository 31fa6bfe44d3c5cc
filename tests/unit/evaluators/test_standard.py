"""trec_eval's measures against values worked by hand."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.evaluators.registry import FAMILIES, parse_measure
from tests.scoring import RankedPaper, evaluate


def rank(**scores: float) -> list[RankedPaper]:
    return [RankedPaper(source_id, score) for source_id, score in scores.items()]


def value_of(measure: str, ranking: Sequence[RankedPaper], judged: Mapping[str, int]) -> float:
    (score,) = evaluate({"q": ranking}, {"q": judged}, [measure])
    return score.value


# by rank: relevant (2), not relevant, unjudged, relevant (1), not relevant; one relevant paper is not ranked
RANKING = rank(a=5.0, b=4.0, unjudged=3.0, c=2.0, d=1.0)
JUDGED = {"a": 2, "b": 0, "c": 1, "d": 0, "unranked": 1}

WORKED = {
    "AP": (1 / 1 + 2 / 4) / 3,
    "AP@2": (1 / 1) / 3,
    "AP(rel=2)": 1.0,
    "AP(judged_only=True)": (1 / 1 + 2 / 3) / 3,
    "Bpref": (1 + (1 - 1 / 2)) / 3,
    "IPrec@0.0": 1.0,
    "IPrec@0.5": 2 / 4,
    "IPrec@1.0": 0.0,
    "NumRel": 3.0,
    "NumRel(rel=2)": 1.0,
    "NumRet": 5.0,
    "NumRet(rel=1)": 2.0,
    "P@5": 2 / 5,
    "P@10": 2 / 10,
    "P(rel=2)@2": 1 / 2,
    "P(judged_only=True)@3": 2 / 3,
    "R@1": 1 / 3,
    "R@5": 2 / 3,
    "RR": 1.0,
    "Rprec": 1 / 3,
    "Rprec(rel=2)": 1.0,
    "SetAP": (2 / 5) * (2 / 3),
    "SetF": 2 * (2 / 5) * (2 / 3) / (2 / 5 + 2 / 3),
    "SetP": 2 / 5,
    "SetP(relative=True)": 2 / 3,
    "SetR": 2 / 3,
    "Success@1": 1.0,
    "nDCG": (2 + 1 / math.log2(5)) / (2 + 1 / math.log2(3) + 1 / math.log2(4)),
    "nDCG@2": 2 / (2 + 1 / math.log2(3)),
    "nDCG(gains={2:3})": (3 + 1 / math.log2(5)) / (3 + 1 / math.log2(3) + 1 / math.log2(4)),
}


@pytest.mark.parametrize(("measure", "expected"), WORKED.items())
def test_measure_equals_the_hand_worked_example(measure: str, expected: float) -> None:
    assert value_of(measure, RANKING, JUDGED) == pytest.approx(expected, abs=1e-12)


def test_inferred_precision_equals_the_hand_worked_example() -> None:
    # rank 4: 1/4 + 3/4 * (2 of 3 above are judged) * (1 of these 2 is relevant), smoothed by 0.00001
    expected = (1 + 1 / 4 + 3 / 4 * 2 / 3 * (1 + 1e-5) / (2 + 2e-5)) / 3
    assert value_of("infAP", RANKING, JUDGED) == pytest.approx(expected, abs=1e-12)


def test_every_standard_family_has_a_hand_worked_example() -> None:
    standard = {key for key, place in FAMILIES.items() if "standard:" in place}
    assert {parse_measure(measure).family.base for measure in [*WORKED, "infAP"]} == standard


def test_all_measures_at_once_equal_each_alone() -> None:
    scores = evaluate({"q": RANKING}, {"q": JUDGED}, WORKED)
    assert {score.measure: score.value for score in scores} == {
        measure: value_of(measure, RANKING, JUDGED) for measure in WORKED
    }


@pytest.mark.parametrize("first", ["nDCG(gains={2:3})", "AP(judged_only=True)", "P(rel=2)@2"])
def test_parameters_of_one_measure_never_reach_another(first: str) -> None:
    scores = evaluate({"q": RANKING}, {"q": JUDGED}, [first, "nDCG", "NumRet"])
    assert [score.value for score in scores[1:]] == pytest.approx(
        [WORKED["nDCG"], WORKED["NumRet"]], abs=1e-12
    )


def test_equal_scores_rank_by_id_bytewise_descending() -> None:
    # "9" before "10"; the two bytes of "é" after every ASCII letter
    assert value_of("RR", rank(**{"10": 1.0, "9": 1.0}), {"10": 1, "9": 0}) == 1 / 2
    assert value_of("RR", rank(z=1.0, é=1.0), {"z": 1, "é": 0}) == 1 / 2
    assert value_of("RR", rank(z=1.0, é=1.0), {"z": 0, "é": 1}) == 1.0


def test_given_order_plays_no_part() -> None:
    assert value_of("RR", rank(a=1.0, b=2.0), {"a": 1, "b": 0}) == 1 / 2


def test_scores_equal_as_32_bit_floats_are_ties() -> None:
    # 1 + 2**-25 rounds to 1, so that the id decides; 1 + 2**-23 is the next 32-bit float
    judged = {"a": 1, "b": 0}
    assert value_of("RR", rank(a=1 + 2**-25, b=1.0), judged) == 1 / 2
    assert value_of("RR", rank(a=1 + 2**-23, b=1.0), judged) == 1.0


def test_scores_beyond_32_bit_floats_and_infinities_are_ordered() -> None:
    assert value_of("RR", rank(a=1e300, b=-1e300), {"a": 0, "b": 1}) == 1 / 2
    assert value_of("RR", rank(a=-math.inf, b=0.0), {"a": 1, "b": 0}) == 1 / 2


def test_a_judged_query_without_a_relevant_paper_is_worth_zero() -> None:
    measures = ["AP", "nDCG", "RR", "Rprec", "R@5", "Bpref", "SetF", "IPrec@0.5"]
    scores = evaluate({"q": rank(a=1.0)}, {"q": {"a": 0}}, measures)
    assert [score.value for score in scores] == [0.0] * len(measures)


def test_a_negative_grade_gains_nothing() -> None:
    expected = (1 / math.log2(3)) / 1
    assert value_of("nDCG", rank(a=2.0, b=1.0), {"a": -2, "b": 1}) == pytest.approx(expected, abs=1e-12)


def test_a_query_with_negative_grades_alone_is_scored() -> None:
    # trec_eval's code would write beyond its arrays; the loop makes a crash likely
    judged = {str(paper): -2 for paper in range(60)}
    ranking = [RankedPaper(source_id, 1.0) for source_id in judged]
    for _ in range(50):
        scores = evaluate({"q": ranking}, {"q": judged}, ["AP", "nDCG", "R@5", "Bpref", "infAP", "NumRet"])
        assert [score.value for score in scores] == [0.0, 0.0, 0.0, 0.0, 0.0, 60.0]


def test_second_call_equals_the_first() -> None:
    measures = ["nDCG@1", "nDCG@2", "nDCG@5", "P@1", "P@5", "AP@5"]
    first = evaluate({"q": RANKING}, {"q": JUDGED}, measures)
    assert evaluate({"q": RANKING}, {"q": JUDGED}, measures) == first


@given(
    st.dictionaries(
        st.text("abé1", min_size=1, max_size=3),
        st.tuples(st.sampled_from([0.0, 1.0, 1 + 2**-25, 2.0, -3.5]), st.integers(0, 2)),
        min_size=1,
        max_size=8,
    )
)
def test_order_is_score_as_32_bits_then_id_bytes_descending(pool: dict[str, tuple[float, int]]) -> None:
    papers = [RankedPaper(source_id, score) for source_id, (score, _) in pool.items()]
    judged = {source_id: grade for source_id, (_, grade) in pool.items()}
    ordered = sorted(
        pool, key=lambda source_id: (np.float32(pool[source_id][0]), source_id.encode()), reverse=True
    )
    gains = [judged[source_id] / math.log2(place + 2) for place, source_id in enumerate(ordered)]
    ideal = [
        grade / math.log2(place + 2) for place, grade in enumerate(sorted(judged.values(), reverse=True))
    ]
    expected = sum(gains) / sum(ideal) if sum(ideal) else 0.0
    assert value_of("nDCG", papers, judged) == pytest.approx(expected, abs=1e-12)
