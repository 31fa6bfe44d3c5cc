"""Array kernels against trec_eval's own code: the same bits, whatever the rankings and judgments."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinakes.errors import EvaluationError
from pinakes.evaluators import judged_ranks
from pinakes.evaluators.array_measures import KERNELS, find_kernel
from pinakes.evaluators.columns import JudgedColumns, RankedColumns, round_to_float32
from pinakes.evaluators.evaluate import evaluate
from pinakes.evaluators.evaluate_columns import evaluate_columns
from pinakes.evaluators.registry import FAMILIES, parse_measure
from pinakes.records import Judgments, RankedPaper, Rankings, Score

MEASURES = [
    "AP", "AP@3", "AP@50", "AP(rel=2)", "AP(rel=3)@4", "P@1", "P@5", "P(rel=2)@7", "R@5", "R(rel=2)@30",
    "RR", "RR(rel=2)", "Rprec", "Rprec(rel=3)", "Success@1", "Success(rel=2)@5",
    "nDCG", "nDCG@1", "nDCG@4", "nDCG@100",
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


def to_columns(rankings: Rankings, judgments: Judgments) -> tuple[RankedColumns, JudgedColumns]:
    """The columns of rankings and judgments; rankings of queries without judgments are left aside."""
    query_ids = sorted(judgments)
    positions = {query_id: position for position, query_id in enumerate(query_ids)}
    ranked = [
        (positions[query_id], paper.source_id, paper.score)
        for query_id, ranking in rankings.items()
        if query_id in positions
        for paper in ranking
    ]
    judged = [
        (positions[query_id], source_id, grade)
        for query_id in query_ids
        for source_id, grade in judgments[query_id].items()
    ]
    source_ids = sorted({pair[1] for pair in [*ranked, *judged]}, key=str.encode)
    numbers = {source_id: number for number, source_id in enumerate(source_ids)}
    return (
        RankedColumns(
            np.array([query for query, _, _ in ranked], dtype=np.int32),
            np.array([numbers[source_id] for _, source_id, _ in ranked], dtype=np.int32),
            round_to_float32(np.array([score for _, _, score in ranked], dtype=np.float64)),
        ),
        JudgedColumns(
            query_ids,
            np.array([query for query, _, _ in judged], dtype=np.int64),
            np.array([numbers[source_id] for _, source_id, _ in judged], dtype=np.int64),
            np.array([grade for _, _, grade in judged], dtype=np.int64),
            source_ids.__getitem__,
        ),
    )


def on_columns(rankings: Rankings, judgments: Judgments) -> list[Score]:
    ranked, judged = to_columns(rankings, judgments)
    return evaluate_columns(ranked, judged, [parse_measure(name) for name in MEASURES])


def make_rankings(given_scores: dict[str, dict[str, float]]) -> dict[str, list[RankedPaper]]:
    return {
        query_id: [RankedPaper(source_id, score) for source_id, score in scores.items()]
        for query_id, scores in given_scores.items()
    }


def test_every_kernel_is_tried() -> None:
    assert {parse_measure(name).family.base for name in MEASURES} == set(KERNELS)
    assert set(KERNELS) <= set(FAMILIES)
    assert all(find_kernel(parse_measure(name)) for name in MEASURES)


@pytest.mark.parametrize(
    "name",
    ["nDCG%20", "CSFCube.AP", "CSFCube.nDCG@20", "nDCG(gains={2:3})", "P(judged_only=True)@5", "IPrec@0.5"],
)
def test_what_no_kernel_computes_is_told(name: str) -> None:
    assert find_kernel(parse_measure(name)) is None


@given(WORLDS)
@settings(max_examples=300, deadline=None)
def test_columns_give_the_bits_of_trec_evals_code(world: tuple[Any, Any]) -> None:
    judged, scored = world
    rankings = make_rankings(scored)
    assert on_columns(rankings, judged) == evaluate(rankings, judged, MEASURES)


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
    assert on_columns(rankings, judged) == evaluate(rankings, judged, MEASURES)


@given(WORLDS, st.integers(1, 40), st.integers(1, 3), st.randoms())
@settings(max_examples=100, deadline=None)
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
        in_blocks = on_columns(shuffled, judged)
    assert in_blocks == on_columns(rankings, judged)


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
def test_columns_that_cannot_be_scored_are_refused_in_the_same_words(
    rankings: dict[str, list[RankedPaper]], judgments: dict[str, dict[str, int]], message: str
) -> None:
    with pytest.raises(EvaluationError, match=message):
        on_columns(rankings, judgments)
    with pytest.raises(EvaluationError, match=message):
        evaluate(rankings, judgments, MEASURES)
