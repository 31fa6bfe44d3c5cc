"""Average precision and ROC area of labelled scores, against scikit-learn and by hand."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from pinakes.evaluators.relevance import average_precisions, find_thresholds, roc_areas, two_standard_errors

Group = list[tuple[float, bool]]
GROUPS = st.lists(
    st.lists(st.tuples(st.sampled_from([-1.5, 0.0, 0.1, 0.2, 1e9]), st.booleans()), max_size=12), max_size=6
)


def columns(groups: list[Group]) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    numbers = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    rows = [row for group in groups for row in group]
    scores = np.array([score for score, _ in rows], dtype=np.float64)
    return numbers, scores, np.array([label for _, label in rows], dtype=bool), len(groups)


@given(GROUPS)
@settings(max_examples=60)
def test_each_group_is_scored_as_scikit_learn_scores_it(groups: list[Group]) -> None:
    thresholds = find_thresholds(*columns(groups))
    precisions, areas = average_precisions(thresholds), roc_areas(thresholds)
    for group, precision, area in zip(groups, precisions, areas, strict=True):
        scores, labels = [score for score, _ in group], [label for _, label in group]
        if not any(labels):
            assert np.isnan(precision)
        else:
            assert precision == pytest.approx(average_precision_score(labels, scores), abs=1e-12)
        if any(labels) and not all(labels):
            assert area == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)
        else:
            assert np.isnan(area)


def test_many_sentences_with_ties_are_scored_as_scikit_learn_scores_them() -> None:
    random = np.random.default_rng(1)
    numbers = np.sort(random.integers(50, size=20_000))
    scores = np.round(random.normal(size=20_000), 1)
    labels = random.random(20_000) < 0.04
    thresholds = find_thresholds(numbers, scores, labels, 50)
    of = [numbers == number for number in range(50)]
    expected = [average_precision_score(labels[rows], scores[rows]) for rows in of]
    assert np.abs(average_precisions(thresholds) - expected).max() < 1e-12
    expected = [roc_auc_score(labels[rows], scores[rows]) for rows in of]
    assert np.abs(roc_areas(thresholds) - expected).max() < 1e-12
    whole = find_thresholds(np.zeros(20_000, np.intp), scores, labels, 1)
    assert average_precisions(whole)[0] == pytest.approx(average_precision_score(labels, scores), abs=1e-12)
    assert roc_areas(whole)[0] == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)


def test_a_sentence_without_a_score_stands_behind_all_others() -> None:
    scores = np.array([-np.inf, -5.0, -np.inf])
    found = find_thresholds(np.zeros(3, np.intp), scores, np.array([True, True, False]), 1)
    # the first threshold finds one of two; the second, of two ties, the other
    assert average_precisions(found).tolist() == [(1 / 1 + 2 / 3) / 2]
    assert roc_areas(found).tolist() == [(1 + 0.5) / 2]


def test_two_standard_errors_are_of_the_population() -> None:
    values = np.array([0.1, 0.4, 0.4, 0.9, 0.2])
    assert two_standard_errors(values) == pytest.approx(
        2 * np.sqrt(np.mean((values - 0.4) ** 2)) / np.sqrt(5)
    )
    assert two_standard_errors(np.zeros(0)) == 0.0


def test_nothing_warns_where_nothing_is_defined() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = find_thresholds(*columns([[], [(1.0, False)], [(1.0, True)]]))
        assert np.isnan(average_precisions(found)).tolist() == [True, True, False]
        assert np.isnan(roc_areas(found)).all()
