"""Measures beyond trec_eval's against ir-measures itself, whatever the rankings and judgments.

ir-measures hands each measure to another package, which orders equal scores in its own way. So it is handed
our order, as scores that fall by one from rank to rank; what the order is, is tested beside trec_eval.
"""

import importlib.util
import math
import shutil
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinakes.errors import EvaluationError
from pinakes.evaluators.registry import FAMILIES, parse_measure
from tests.measuring import ask, order
from tests.scoring import RankedPaper, Rankings, evaluate

IN_PYTHON = [
    "Judged", "Judged@1", "Judged@10", "RR@1", "RR@3", "RR(rel=2)@10", "Accuracy", "Accuracy@5",
    "Accuracy(rel=2)", "Compat", "Compat(p=0.8)", "Compat(normalize=False)", "Compat(normalize=False,p=0.5)",
    "NumQ", "SetF(beta=0.5)", "SetF(beta=2.0,rel=2)",
]  # fmt: skip
BY_PERL = ["ERR@1", "ERR@5", "ERR@20", "nDCG(dcg='exp-log2')@1", "nDCG(dcg='exp-log2')@10"]
BY_CWL = [
    "RBP(rel=1)", "RBP(p=0.5,rel=2)", "RBP(p=0.999,rel=1)", "BPM(max_rel=3)@5", "BPM(T=0.5,max_rel=4)@20",
    "SDCG(max_rel=3)@10", "SDCG(max_rel=4,min_rel=1)@3", "NERR8(max_rel=4)@5", "NERR9(max_rel=3)@10",
    "NERR10(max_rel=4)", "NERR10(max_rel=3,p=0.5)", "NERR11(T=2.0,max_rel=4)", "NERR11(max_rel=4)",
    "INST(max_rel=3)", "INST(T=0.25,max_rel=4)", "INSQ(max_rel=3)", "INSQ(T=3.0,max_rel=4,min_rel=1)",
]  # fmt: skip

IDS = st.sampled_from([str(number) for number in range(25)])
WORLDS = st.tuples(
    st.dictionaries(st.sampled_from("123"), st.dictionaries(IDS, st.integers(-2, 4), min_size=1), min_size=1),
    # few scores, so that many are equal
    st.dictionaries(st.sampled_from("1234"), st.dictionaries(IDS, st.sampled_from([0.5, 1.0, 2.0]))),
)
World = tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]


def rank(scores: Mapping[str, float]) -> list[RankedPaper]:
    return [RankedPaper(paper, score) for paper, score in scores.items()]


def compute(
    judged: Mapping[str, Mapping[str, int]], scores: Any, names: list[str]
) -> dict[tuple[str, str], float]:
    rankings: Rankings = {query: rank(papers) for query, papers in scores.items()}
    found = evaluate(rankings, judged, names)
    assert [score.measure for score in found[:: len(judged)]] == names
    return {(score.measure, str(score.query_id)): score.value for score in found}


def test_every_measure_that_trec_eval_lacks_is_tried() -> None:
    tried = {parse_measure(name).family.base for name in [*IN_PYTHON, *BY_PERL, *BY_CWL]}
    further = ("further:", "user_models:", "compatibility:")
    assert {base for base, place in FAMILIES.items() if any(part in place for part in further)} <= tried


def has_pairs(judged: Mapping[str, Mapping[str, int]], scores: Any) -> bool:
    """Whether no ranking begins with relevant papers alone: there ir-measures' Accuracy divides by 0."""
    heads = (
        [judged[query].get(paper, 0) for paper in order(papers)][:5]
        for query, papers in scores.items()
        if query in judged
    )
    return all(not head or min(head) < 1 for head in heads)


@given(WORLDS)
@settings(max_examples=120)
def test_values_are_those_of_ir_measures_own_code(world: World) -> None:
    judged, scores = world
    names = [name for name in IN_PYTHON if has_pairs(judged, scores) or not name.startswith("Accuracy")]
    # of a query without a grade from 0 on, trec_eval's code writes beyond its arrays
    judged = {query: grades for query, grades in judged.items() if max(grades.values()) >= 0} or {
        "1": {"1": 0}
    }
    ours, theirs = compute(judged, scores, names), ask(judged, scores, names)
    theirs |= {(name, query): 1.0 for name, query in theirs if name == "NumQ"}
    assert ours == pytest.approx(theirs, abs=1e-12)


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is a program in Perl, which is not here")
def test_values_are_those_of_gdeval() -> None:
    generator = np.random.default_rng(2)
    judged, scores = make_world(generator, queries=8)
    # gdeval prints five digits
    assert compute(judged, scores, BY_PERL) == pytest.approx(ask(judged, scores, BY_PERL), abs=5.1e-6)


@pytest.mark.skipif(
    importlib.util.find_spec("cwl") is None, reason="cwl-eval of the extra dev is not installed"
)
def test_values_are_those_of_cwl_eval() -> None:
    generator = np.random.default_rng(3)
    judged, scores = make_world(generator, queries=6)
    long = {str(paper): float(-paper) for paper in range(1_200)}
    judged["long"], scores["long"] = {str(paper): paper % 5 for paper in range(0, 1_200, 7)}, long
    assert compute(judged, scores, BY_CWL) == pytest.approx(ask(judged, scores, BY_CWL), abs=1e-12)


def make_world(generator: Any, queries: int) -> World:
    """Rankings with ties, unjudged papers, judged papers that are not ranked, and a missing query."""
    papers = [str(paper) for paper in range(40)]
    judged: dict[str, dict[str, int]] = {}
    scores: dict[str, dict[str, float]] = {}
    for query in range(1, queries + 1):
        chosen = generator.permutation(papers)
        judged[str(query)] = dict(
            zip(chosen[:20].tolist(), generator.integers(-1, 5, 20).tolist(), strict=True)
        )
        if query > 1:
            drawn = generator.integers(0, 9, 30).astype(float).tolist()
            scores[str(query)] = dict(zip(chosen[10:].tolist(), drawn, strict=True))
    return judged, scores


# by rank: relevant (2), not judged, relevant (1), not relevant; one relevant paper is not ranked
RANKING = {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}
JUDGED = {"a": 2, "c": 1, "d": 0, "e": 1}
DISCOUNTS = [1 / math.log2(rank + 1) for rank in range(1, 5)]
WORKED = {
    "Judged": 3 / 4,
    "Judged@2": 1 / 2,
    "Judged@10": 3 / 4,
    "RR(rel=1)@1": 1.0,
    "RR(judged_only=True)@2": 1.0,
    "Accuracy": 3 / 4,
    "Accuracy(rel=2)": 1.0,
    "ERR": 3 / 16 + 13 / 16 * (1 / 16) / 3,
    "ERR@2": 3 / 16,
    "nDCG(dcg='exp-log2')@2": 3 * DISCOUNTS[0] / (3 * DISCOUNTS[0] + DISCOUNTS[1]),
    "RBP": 0.2 * (2 + 0.8**2),
    "RBP@2": 0.2 * 2,
    "RBP(p=0.5,rel=1)@3": 0.5 * (1 + 0.25),
    "RBP(p=0.5,rel=2)": 0.5,
    # looked at down to rank 2, where the first half is found
    "BPM(T=0.75,max_rel=2)@2": (1 + 0) / 1,
    "SDCG(max_rel=2)@3": (DISCOUNTS[0] + 0.5 * DISCOUNTS[2]) / sum(DISCOUNTS[:3]),
    # the first paper satisfies
    "NERR8(max_rel=2)@3": 1.0,
    "NERR8(max_rel=4)@3": (0.5 + 0.25 * 0.5) / (1 + 0.5 + 0.5),
    "NERR9(max_rel=4)@3": (0.5 + 0.25 * (1 / 4 * 2 / 3)) / (1 + 1 / 4 + 1 / 4 * 2 / 3),
    # the best order is a, c, e: overlaps 1/1, 1/2, 2/3, 2/4; and 1/1, 2/2, 3/3, 3/4 with itself
    "Compat(p=0.5)": (1 + 0.5 / 2 + 0.25 * 2 / 3 + 0.125 / 2) / (1 + 0.5 + 0.25 + 0.125 * 3 / 4),
    "NumQ": 1.0,
}


@pytest.mark.parametrize(("measure", "expected"), WORKED.items())
def test_measure_equals_the_hand_worked_example(measure: str, expected: float) -> None:
    (value,) = compute({"q": JUDGED}, {"q": RANKING}, [parse_measure(measure).name]).values()
    assert value == pytest.approx(expected, abs=1e-12)


def test_accuracy_of_relevant_papers_alone_is_one() -> None:
    values = compute({"q": {"a": 1}, "r": {"a": 0}}, {"q": {"a": 1.0}, "r": {"a": 1.0}}, ["Accuracy"])
    assert list(values.values()) == [1.0, 0.0]


def test_compat_takes_negative_scores_for_scores() -> None:
    # ir-measures puts papers that are not ranked above those of a score below 0
    judged = {"q": {"a": 1, "b": 1, "c": 1}}
    by_rank = [
        compute(judged, {"q": {"a": one, "b": other}}, ["Compat"]) for one, other in [(2, 1), (-1, -2)]
    ]
    assert by_rank[0] == by_rank[1]


@pytest.mark.parametrize(
    ("measure", "grade", "message"),
    [
        ("ERR@20", 5, "ERR takes grades up to 4, and one is 5; choose nDCG or RBP instead"),
        (
            "nDCG(dcg='exp-log2')",
            1001,
            "a grade is 1001, and 2 ** grade is no number above 1000; choose dcg='log2'",
        ),
    ],
)
def test_grades_that_a_measure_has_no_room_for_are_named(measure: str, grade: int, message: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        evaluate({"q": rank({"a": 1.0})}, {"q": {"a": grade}}, [measure])
    assert str(caught.value) == message


@pytest.mark.parametrize("measure", [*IN_PYTHON, *BY_PERL, *BY_CWL, "RBP"])
def test_a_query_without_an_answer_is_worth_zero(measure: str) -> None:
    (value,) = compute({"q": JUDGED}, {}, [measure]).values()
    assert value == (1.0 if measure == "NumQ" else 0.0)
