import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.errors import EvaluationError
from pinakes.evaluators.aggregate import Aggregation, aggregate
from pinakes.evaluators.evaluate import evaluate
from pinakes.records import RankedPaper, Score

CSFCUBE = Aggregation(
    group_by=("facet",), fold_column="fold", splits={"dev": [["A"]], "test": [["B"], ["A"]]}
)
ATTRIBUTES = {
    "1": {"facet": "background", "fold": "A"},
    "2": {"facet": "background", "fold": "B"},
    "3": {"facet": "background", "fold": "B"},
    "4": {"facet": "method", "fold": "A"},
}


def query_score(query_id: str, value: float, measure: str = "AP") -> Score:
    return Score(measure, "all", query_id, value, 1, 1)


FOUR = [query_score("1", 0.5), query_score("2", 0.25), query_score("3", 0.75), query_score("4", 0.0)]


def test_without_a_rule_there_is_the_mean_of_all() -> None:
    assert aggregate(FOUR) == [Score("AP", "all", None, 1.5 / 4, 4, 4)]


def test_groups_and_splits_have_their_own_rows() -> None:
    # a split is the mean of its folds' means; "method" has no fold B and thus no test row
    assert aggregate(FOUR, ATTRIBUTES, CSFCUBE) == [
        Score("AP", "all", None, 1.5 / 4, 4, 4),
        Score("AP", "all/dev", None, 0.5 / 2, 2, 2),
        Score("AP", "all/test", None, (1.0 / 2 + 0.5 / 2) / 2, 4, 4),
        Score("AP", "facet=background", None, 1.5 / 3, 3, 3),
        Score("AP", "facet=background/dev", None, 0.5, 1, 1),
        Score("AP", "facet=background/test", None, (1.0 / 2 + 0.5) / 2, 3, 3),
        Score("AP", "facet=method", None, 0.0, 1, 1),
        Score("AP", "facet=method/dev", None, 0.0, 1, 1),
    ]


def test_missing_query_counts_as_zero_and_is_told() -> None:
    judged = {"1": {"a": 1}, "2": {"a": 1}}
    scores = evaluate({"1": [RankedPaper("a", 1.0)]}, judged, ["AP"])
    (score,) = aggregate(scores)
    assert score == Score("AP", "all", None, 1 / 2, 2, 1)
    assert score.queries_missing == 1


def test_counts_are_summed_over_the_queries_of_a_split() -> None:
    scores = [query_score(str(query), float(query), "NumRet") for query in range(1, 5)]
    totals = {score.subset: score.value for score in aggregate(scores, ATTRIBUTES, CSFCUBE)}
    assert totals == {
        "all": 10.0,
        "all/dev": 5.0,
        "all/test": 10.0,
        "facet=background": 6.0,
        "facet=background/dev": 1.0,
        "facet=background/test": 6.0,
        "facet=method": 4.0,
        "facet=method/dev": 4.0,
    }


def test_a_null_in_a_grouping_column_is_in_no_group() -> None:
    scores = aggregate(FOUR[:1], {"1": {"facet": None}}, Aggregation(group_by=("facet",)))
    assert [score.subset for score in scores] == ["all"]


def test_a_fold_set_may_hold_several_folds() -> None:
    rule = Aggregation(fold_column="fold", splits={"both": [["A", "B"]]})
    assert aggregate(FOUR, ATTRIBUTES, rule)[1] == Score("AP", "all/both", None, 1.5 / 4, 4, 4)


@pytest.mark.parametrize(
    ("scores", "attributes", "rule", "message"),
    [
        ([FOUR[0], FOUR[0]], {}, Aggregation(), "AP has two scores for query '1'"),
        ([Score("AP", "all", None, 0.5, 2, 2)], {}, Aggregation(), "is of subset 'all', not of a query"),
        (FOUR, {}, Aggregation(group_by=("facet",)), "query '[1-4]' has no column 'facet'"),
        (FOUR[:1], {"1": {"fold": None}}, Aggregation((), "fold", {"dev": [["A"]]}), "query '1' has no fold"),
        (FOUR, ATTRIBUTES, Aggregation((), "fold", {"dev": [["A"], ["C"]]}), r"asks for folds \{A\}, \{C\}"),
        (FOUR, ATTRIBUTES, Aggregation((), None, {"dev": [["A"]]}), "splits are given without a fold column"),
    ],
)
def test_what_cannot_be_aggregated_is_named(
    scores: list[Score], attributes: dict[str, dict[str, str | None]], rule: Aggregation, message: str
) -> None:
    with pytest.raises(EvaluationError, match=message):
        aggregate(scores, attributes, rule)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.randoms())
def test_no_order_of_queries_changes_a_digit(values: list[float], shuffler: random.Random) -> None:
    scores = [query_score(str(place), value) for place, value in enumerate(values)]
    shuffled = shuffler.sample(scores, len(scores))
    assert aggregate(shuffled) == aggregate(scores)


@given(
    st.dictionaries(
        st.sampled_from("12345"),
        st.dictionaries(st.sampled_from("abcd"), st.integers(0, 3), min_size=1),
        min_size=1,
    ),
    st.data(),
)
def test_a_missing_query_never_raises_the_mean(
    judged: dict[str, dict[str, int]], data: st.DataObject
) -> None:
    rankings = {
        query_id: [RankedPaper(source_id, -float(place)) for place, source_id in enumerate(grades)]
        for query_id, grades in judged.items()
    }
    dropped = data.draw(st.sampled_from(sorted(rankings)))
    fewer = {query_id: ranking for query_id, ranking in rankings.items() if query_id != dropped}
    measures = ["AP", "nDCG@2", "RR", "P@1", "CSFCube.RP", "CSFCube.nDCG%100", "nDCG%50", "NumRet"]
    whole = aggregate(evaluate(rankings, judged, measures))
    for before, after in zip(whole, aggregate(evaluate(fewer, judged, measures)), strict=True):
        assert after.value <= before.value
        assert (after.queries_owed, after.queries_missing) == (
            before.queries_owed,
            before.queries_missing + 1,
        )
