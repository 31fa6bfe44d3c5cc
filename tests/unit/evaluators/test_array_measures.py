"""Scores against trec_eval's own code: the same bits, whatever the rankings and judgments."""

import math
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures.providers.pytrec_eval_provider import PytrecEvalProvider

from pinakes.errors import EvaluationError
from pinakes.evaluators import judged_ranks
from pinakes.evaluators.array_measures import KERNELS
from pinakes.evaluators.columns import round_to_float32
from pinakes.evaluators.evaluate import evaluate_columns
from pinakes.evaluators.registry import FAMILIES, parse_measure
from pinakes.evaluators.standard import find_kernel
from pinakes.records import Judgments, Score
from tests.scoring import RankedPaper, Rankings, evaluate, to_columns

PROVIDER: Any = PytrecEvalProvider

MEASURES = [
    "AP", "AP@3", "AP@50", "AP(rel=2)", "AP(rel=3)@4", "P@1", "P@5", "P(rel=2)@7", "R@5", "R(rel=2)@30",
    "RR", "RR(rel=2)", "Rprec", "Rprec(rel=3)", "Success@1", "Success(rel=2)@5",
    "nDCG", "nDCG@1", "nDCG@4", "nDCG@100",
    # those that no kernel computes
    "AP(judged_only=True)", "Bpref", "Bpref(rel=2)", "IPrec@0.5", "NumRet", "NumRet(rel=2)",
    "P(judged_only=True,rel=2)@5", "R(judged_only=True)@3", "SetAP", "SetF", "SetP", "SetP(relative=True)",
    "SetR", "infAP", "nDCG(gains={1:3,2:1})@5", "nDCG(judged_only=True)",
]  # fmt: skip

IDS = st.text("9é1b", min_size=1, max_size=4)
GRADES = st.integers(-3, 4)
SCORES = st.one_of(
    st.sampled_from(
        [0.0, -0.0, 1.0, 1 + 2**-25, 1 + 2**-23, -1.0, 1e300, -1e300, math.inf, -math.inf, 1e-46]
    ),
    st.floats(allow_nan=False),
)
QUERIES = st.sampled_from(["q1", "q2", "q10", "é"])
WORLDS = st.tuples(
    st.dictionaries(QUERIES, st.dictionaries(IDS, GRADES, min_size=1, max_size=30), min_size=1),
    st.dictionaries(QUERIES, st.dictionaries(IDS, SCORES, max_size=30)),
)


def score(rankings: Rankings, judgments: Judgments) -> list[Score]:
    return evaluate(rankings, judgments, MEASURES)


def judge(rankings: Rankings, judgments: Judgments) -> list[Score]:
    """What trec_eval's own code gives, handed plain dictionaries and the sources' ids."""
    judged = {
        # of a query without a grade from 0 on, trec_eval's code writes beyond its arrays
        query_id: dict(grades) if max(grades.values()) >= 0 else dict.fromkeys(grades, 0)
        for query_id, grades in judgments.items()
    }
    run = {
        query_id: {paper.source_id: to_float32(paper.score) for paper in rankings[query_id]}
        for query_id in judgments
        if rankings.get(query_id)
    }
    values = {
        (name, metric.query_id): metric.value
        for name in MEASURES
        if run
        for metric in PROVIDER()
        .evaluator([ir_measures.parse_measure(name)], {query_id: judged[query_id] for query_id in run})
        .iter_calc(run)
    }
    return [
        Score(name, "all", query_id, float(values.get((name, query_id), 0.0)), 1, int(query_id in run))
        for name in MEASURES
        for query_id in sorted(judgments)
    ]


def to_float32(value: float) -> float:
    return float(round_to_float32(np.array([value]))[0])


def make_rankings(given_scores: dict[str, dict[str, float]]) -> dict[str, list[RankedPaper]]:
    return {
        query_id: [RankedPaper(source_id, score) for source_id, score in scores.items()]
        for query_id, scores in given_scores.items()
    }


def test_every_kernel_and_every_measure_without_one_is_tried() -> None:
    measures = [parse_measure(name) for name in MEASURES]
    kernels = {measure.family.base for measure in measures if find_kernel(measure)}
    assert kernels == set(KERNELS) - {"NumRel"}  # which pytrec_eval counts otherwise; see below
    others = {measure.family.base for measure in measures if find_kernel(measure) is None}
    standard = {key for key, place in FAMILIES.items() if "standard:" in place}
    assert kernels | others == standard - {"NumRel"}
    assert [measure.name for measure in measures] == MEASURES


@given(WORLDS)
def test_relevant_papers_are_counted_for_every_judged_query(world: tuple[Any, Any]) -> None:
    judged, scored = world
    found = evaluate(make_rankings(scored), judged, ["NumRel", "NumRel(rel=3)"])
    assert [(score.query_id, score.value) for score in found] == [
        (query_id, float(sum(grade >= level for grade in judged[query_id].values())))
        for level in (1, 3)
        for query_id in sorted(judged)
    ]


@given(WORLDS)
@settings(max_examples=300)
def test_scores_are_the_bits_of_trec_evals_code(world: tuple[Any, Any]) -> None:
    judged, scored = world
    rankings = make_rankings(scored)
    assert score(rankings, judged) == judge(rankings, judged)


def test_long_rankings_give_the_bits_of_trec_evals_code() -> None:
    generator = np.random.default_rng(1)
    judged, scored = {}, {}
    for number in range(6):
        papers = [str(paper) for paper in generator.permutation(3_000)]
        grades = generator.integers(-2, 5, 900).tolist()
        judged[f"q{number}"] = dict(zip(papers[:900], grades, strict=True))
        scores = generator.gamma(2, 5, 1_000).round(1).tolist()
        scored[f"q{number}"] = dict(zip(papers[500:1500], scores, strict=True))
    rankings = make_rankings(scored)
    assert score(rankings, judged) == judge(rankings, judged)


@given(WORLDS, st.integers(1, 40), st.integers(1, 3), st.randoms())
@settings(max_examples=100)
def test_neither_blocks_nor_the_order_of_rows_change_a_digit(
    world: tuple[Any, Any], rows: int, queries: int, shuffler: Any
) -> None:
    judged, scored = world
    rankings = make_rankings(scored)
    shuffled = {
        query_id: shuffler.sample(rankings[query_id], len(rankings[query_id]))
        for query_id in shuffler.sample(sorted(rankings), len(rankings))
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judged_ranks, "BLOCK_ROWS", rows)
        patch.setattr(judged_ranks, "BLOCK_QUERIES", queries)
        in_blocks = score(shuffled, judged)
    assert in_blocks == score(rankings, judged)


def test_a_missing_query_is_worth_zero_and_told() -> None:
    ranked, judged = to_columns(
        {"q2": [RankedPaper("a", 1.0)], "other": []}, {"q1": {"a": 1}, "q2": {"a": 1}}
    )
    assert evaluate_columns(ranked, judged, [parse_measure("AP")], "type=graph") == [
        Score("AP", "type=graph", "q1", 0.0, 1, 0),
        Score("AP", "type=graph", "q2", 1.0, 1, 1),
    ]


TWICE = [RankedPaper("a", 2.0), RankedPaper("b", 1.0), RankedPaper("a", 1.0)]


@pytest.mark.parametrize(
    ("rankings", "judgments", "message"),
    [
        ({}, {}, "there are no judgments"),
        ({}, {"q1": {"a": 1}, "q2": {}}, "query 'q2' is a query with no judged candidate"),
        ({"q1": [RankedPaper("a", math.nan)]}, {"q1": {"b": 1}}, "paper 'a' for query 'q1' is not a number"),
        (
            {"q1": [RankedPaper("a", 1.0)], "q2": TWICE},
            {"q1": {"a": 1}, "q2": {"z": 0}},
            r"query 'q2' ranks paper 'a' more than once \(1 such papers\)",
        ),
    ],
)
def test_what_cannot_be_scored_is_refused(
    rankings: dict[str, list[RankedPaper]], judgments: dict[str, dict[str, int]], message: str
) -> None:
    with pytest.raises(EvaluationError, match=message):
        score(rankings, judgments)
