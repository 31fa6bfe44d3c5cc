import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.errors import EvaluationError
from pinakes.evaluators.aggregate import Aggregation, aggregate
from pinakes.records import Average, Score
from tests.scoring import RankedPaper, evaluate

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


FIELDS: dict[str, dict[str, str | None]] = {
    "1": {"field": "Art", "repeat": "1"},
    "2": {"field": "Art", "repeat": "2"},
    "3": {"field": "Art", "repeat": "2"},
    "4": {"field": "Law", "repeat": "1"},
    "5": {"field": None, "repeat": None},
}
FIVE = [*FOUR, query_score("5", 1.0)]


def test_repeats_have_a_row_within_all_and_within_each_group() -> None:
    rule = Aggregation(("field",), repeat_column="repeat")
    assert aggregate(FIVE, FIELDS, rule) == [
        Score("AP", "all", None, 2.5 / 5, 5, 5),
        Score("AP", "all/repeat=1", None, 0.5 / 2, 2, 2),
        Score("AP", "all/repeat=2", None, 1.0 / 2, 2, 2),
        Score("AP", "field=Art", None, 1.5 / 3, 3, 3),
        Score("AP", "field=Art/repeat=1", None, 0.5, 1, 1),
        Score("AP", "field=Art/repeat=2", None, 1.0 / 2, 2, 2),
        Score("AP", "field=Law", None, 0.0, 1, 1),
        Score("AP", "field=Law/repeat=1", None, 0.0, 1, 1),
    ]


def test_an_average_counts_each_group_once() -> None:
    rule = Aggregation(("field",), averages=(Average("mean(field)", "field"),))
    (average,) = [score for score in aggregate(FIVE, FIELDS, rule) if score.subset == "mean(field)"]
    assert average == Score("AP", "mean(field)", None, (1.5 / 3 + 0.0) / 2, 4, 4)


def test_an_average_of_rounded_means_is_rounded_as_a_percentage_too() -> None:
    # 33.3333... and 14.2857... per cent with four decimals
    attributes: dict[str, dict[str, str | None]] = {
        str(query): {"field": "Art" if query < 3 else "Law"} for query in range(10)
    }
    scores = [query_score(str(query), float(query in (0, 3))) for query in range(10)]
    averages = (Average("mean(field)", "field"), Average("mean(rounded field)", "field", 6))
    found = {
        score.subset: score
        for score in aggregate(scores, attributes, Aggregation(("field",), averages=averages))
    }
    assert found["mean(field)"].value == (1 / 3 + 1 / 7) / 2
    assert found["mean(rounded field)"] == Score("AP", "mean(rounded field)", None, 23.8095 / 100, 10, 10)


def test_means_are_rounded_before_they_are_averaged() -> None:
    # per cent without decimals: 0.4, 0.4 and 0.7 are 0, 0 and 1, whose mean 0.33 is 0 again
    attributes: dict[str, dict[str, str | None]] = {
        "1": {"field": "Art"},
        "2": {"field": "Law"},
        "3": {"field": "Mat"},
    }
    scores = [query_score("1", 0.004), query_score("2", 0.004), query_score("3", 0.007)]
    rule = Aggregation(("field",), averages=(Average("rounded", "field", 2), Average("plain", "field")))
    found = {score.subset: score.value for score in aggregate(scores, attributes, rule)}
    assert found["plain"] == pytest.approx(0.005)
    assert found["rounded"] == 0.0


def test_an_average_without_any_group_has_no_row() -> None:
    rule = Aggregation(("field",), averages=(Average("mean(field)", "field"),))
    assert [score.subset for score in aggregate(FIVE[4:], FIELDS, rule)] == ["all"]


def test_counts_are_summed_in_an_average() -> None:
    rule = Aggregation(("field",), averages=(Average("mean(field)", "field", 6),))
    scores = [query_score(str(query), 2.0, "NumRet") for query in range(1, 6)]
    assert {score.subset: score.value for score in aggregate(scores, FIELDS, rule)} == {
        "all": 10.0,
        "field=Art": 6.0,
        "field=Law": 2.0,
        "mean(field)": 8.0,
    }


def test_scores_of_a_candidate_type_are_aggregated_apart_under_its_name() -> None:
    graph = [Score("AP", "type=graph", score.query_id, 1.0, 1, 1) for score in FOUR]
    rule = Aggregation(("field",), "repeat", {"first": [["1"]]}, averages=(Average("mean(field)", "field"),))
    found = {score.subset: score.value for score in aggregate([*FOUR, *graph], FIELDS, rule)}
    assert found == {
        "all": 1.5 / 4,
        "all/first": 0.5 / 2,
        "field=Art": 1.5 / 3,
        "field=Art/first": 0.5,
        "field=Law": 0.0,
        "field=Law/first": 0.0,
        "mean(field)": 0.25,
        "type=graph": 1.0,
        "type=graph/first": 1.0,
        "type=graph/field=Art": 1.0,
        "type=graph/field=Art/first": 1.0,
        "type=graph/field=Law": 1.0,
        "type=graph/field=Law/first": 1.0,
        "type=graph/mean(field)": 1.0,
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
        assert (after.queries_expected, after.queries_missing) == (
            before.queries_expected,
            before.queries_missing + 1,
        )
