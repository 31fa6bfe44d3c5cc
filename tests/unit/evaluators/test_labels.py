"""Measures of classes, labels and numbers: as scikit-learn and scipy where nothing is missing, or by hand."""

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from pinakes.errors import EvaluationError, UnknownNameError
from pinakes.evaluators.labels import (
    CLASS_MEASURES,
    NUMBER_MEASURES,
    count_classes,
    count_labels,
    require_measure,
    score_labels,
    score_numbers,
)

PEERS = {"F1": metrics.f1_score, "P": metrics.precision_score, "R": metrics.recall_score}


@pytest.mark.parametrize("name", [name for name in CLASS_MEASURES if not name.endswith("_binary")])
@pytest.mark.parametrize("classes", [2, 3, 7])
def test_classes_are_scored_as_scikit_learn_scores_them(name: str, classes: int) -> None:
    rng = np.random.default_rng(classes)
    true, predicted = rng.integers(0, classes, 60), rng.integers(0, classes, 60)
    predicted[true == 1] = 0  # class 1 is never met
    found = float(score_labels(name, count_classes(true, predicted, classes + 2)))
    kind, _, average = name.partition("_")
    expected = (
        metrics.accuracy_score(true, predicted)
        if name == "Accuracy"
        else PEERS[kind](true, predicted, average=average, zero_division=0)
    )
    assert found == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("kind", list(PEERS))
def test_the_positive_class_is_scored_alone(kind: str) -> None:
    true, predicted = np.array([0, 1, 1, 0, 1, 1]), np.array([0, 1, 0, 1, 1, 1])
    counts = count_classes(true, predicted, 2)
    for positive in (0, 1):
        expected = PEERS[kind](true, predicted, pos_label=positive)
        assert float(score_labels(f"{kind}_binary", counts, positive)) == pytest.approx(expected, abs=1e-15)
    with pytest.raises(EvaluationError, match="F1_binary needs the positive class"):
        score_labels("F1_binary", counts)


@pytest.mark.parametrize("name", [name for name in CLASS_MEASURES if not name.endswith("_binary")])
def test_labels_are_scored_as_scikit_learn_scores_them(name: str) -> None:
    rng = np.random.default_rng(5)
    true, predicted = rng.random((40, 6)) < 0.3, rng.random((40, 6)) < 0.3
    true[:, 4] = predicted[:, 4] = False  # a label of nobody counts in the mean, with 0
    found = float(score_labels(name, count_labels(true, predicted, np.ones(40, dtype=bool))))
    kind, _, average = name.partition("_")
    expected = (
        metrics.accuracy_score(true, predicted)
        if name == "Accuracy"
        else PEERS[kind](true, predicted, average=average, zero_division=0)
    )
    assert found == pytest.approx(expected, abs=1e-15)


def test_a_paper_without_a_prediction_is_wrong() -> None:
    true = np.array([0, 1, 1, 0])
    two = count_classes(true, np.array([0, -1, 1, -1]), 2)
    # the missing ones count as 0 and as 1: one hit, one miss and one false alarm of class 1
    assert float(score_labels("F1_binary", two, 1)) == 2 * 1 / (2 + 2)
    assert float(score_labels("Accuracy", two)) == 2 / 4
    three = count_classes(np.array([0, 1, 2, 2]), np.array([0, 1, -1, 2]), 3)
    assert float(score_labels("R_macro", three)) == (1 + 1 + 1 / 2) / 3
    none = np.zeros((2, 2), dtype=bool)
    several = count_labels(none, none, np.array([True, False]))
    assert float(score_labels("Accuracy", several)) == 1 / 2


@pytest.mark.parametrize("ties", [3, 1000])
def test_numbers_are_scored_as_scipy_scores_them(ties: int) -> None:
    rng = np.random.default_rng(ties)
    true, predicted = rng.integers(0, ties, 80).astype(float), rng.integers(0, ties, 80).astype(float)
    assert score_numbers("KendallTau", true, predicted) == stats.kendalltau(true, predicted).statistic
    assert score_numbers("Pearson", true, predicted) == pytest.approx(stats.pearsonr(true, predicted)[0])


def test_pairs_with_a_missing_number_are_ordered_wrongly() -> None:
    true, nan = np.array([1.0, 2.0, 3.0, 3.0]), np.nan
    # pairs that differ: 12 13 13' 23 23' (33' is tied); of the five, those with paper 3' are missing: two
    assert score_numbers("KendallTau", true, np.array([1.0, 2.0, 3.0, nan])) == pytest.approx((3 - 2) / 5)
    assert score_numbers("KendallTau", true, np.array([nan, nan, nan, nan])) == -1.0
    perfect = np.array([1.0, 2.0, 3.0, 3.0])
    worse = [
        score_numbers("KendallTau", true, np.where(np.arange(4) < kept, perfect, nan)) for kept in range(5)
    ]
    assert worse == sorted(worse)
    assert score_numbers("Pearson", true, np.array([1.0, 2.0, 3.0, nan])) == pytest.approx(0.75)
    assert score_numbers("Pearson", true, np.array([3.0, 2.0, 1.0, nan])) == pytest.approx(-1.0)


def test_equal_predictions_order_nothing_and_equal_targets_are_refused() -> None:
    true, same = np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 2.0])
    for name in NUMBER_MEASURES:
        assert score_numbers(name, true, same) == 0.0
        with pytest.raises(EvaluationError, match="the 3 true numbers do not differ"):
            score_numbers(name, same, true)


def test_an_unknown_measure_is_named_with_those_that_are_known() -> None:
    with pytest.raises(UnknownNameError, match="F1_macro"):
        require_measure("F2", CLASS_MEASURES)
