import math
from typing import Any

import pytest

from pinakes.errors import EvaluationError
from pinakes.records import Score
from tests.scoring import RankedPaper, Rankings, evaluate

JUDGED = {"q2": {"a": 1}, "q1": {"a": 0, "b": 1}}
RANKED: Rankings = {"q1": [RankedPaper("a", 2.0), RankedPaper("b", 1.0)], "not owed": [RankedPaper("a", 1.0)]}


def test_scores_are_one_for_each_measure_and_judged_query_in_order() -> None:
    assert evaluate(RANKED, JUDGED, ["RR", "NumRel"]) == [
        Score("RR", "all", "q1", 1 / 2, 1, 1),
        Score("RR", "all", "q2", 0.0, 1, 0),
        Score("NumRel", "all", "q1", 1.0, 1, 1),
        Score("NumRel", "all", "q2", 1.0, 1, 0),
    ]


def test_two_spellings_of_a_measure_give_it_once_under_its_canonical_name() -> None:
    scores = evaluate(RANKED, {"q1": JUDGED["q1"]}, ["MAP", "AP", "AP(rel=1)"])
    assert scores == [Score("AP", "all", "q1", 1 / 2, 1, 1)]


def test_a_query_ranked_without_a_paper_is_missing() -> None:
    assert evaluate({"q": []}, {"q": {"a": 1}}, ["AP"]) == [Score("AP", "all", "q", 0.0, 1, 0)]


@pytest.mark.parametrize(
    ("rankings", "judgments", "message"),
    [
        ({}, {}, "there are no judgments; expected at least one judged query"),
        (
            {},
            {"q1": {"a": 1}, "q2": {}},
            "query 'q2' is a query with no judged candidate; judge a paper or drop the query",
        ),
        (
            {"q": [RankedPaper("a", math.nan)]},
            {"q": {"a": 1}},
            "the score of paper 'a' for query 'q' is not a number (NaN); a ranking needs numbers",
        ),
        (
            {"q": [RankedPaper("a", 2.0), RankedPaper("a", 1.0)]},
            {"q": {"a": 1}},
            "query 'q' ranks paper 'a' more than once (1 such papers); keep each paper's best rank",
        ),
    ],
)
@pytest.mark.parametrize("measure", ["AP", "nDCG%20", "CSFCube.RP", "NumRel"])
def test_what_cannot_be_evaluated_is_named(rankings: Any, judgments: Any, message: str, measure: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        evaluate(rankings, judgments, [measure])
    assert str(caught.value) == message
