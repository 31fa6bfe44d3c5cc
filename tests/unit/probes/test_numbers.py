"""The regression is scikit-learn's LinearSVR with a grid search."""

import warnings
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import kendalltau
from sklearn.exceptions import ConvergenceWarning, UndefinedMetricWarning
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVR

from pinakes.errors import IndexingError
from pinakes.indexers.probes.base import NUMBER_GRID, RULES, Predictions, Rules, Vectors
from pinakes.indexers.probes.numbers import predict_numbers

CORRECTED = RULES["corrected"]
Case = tuple[Vectors, NDArray[np.float64]]


def search_by_scikit_learn(train: Vectors, targets: NDArray[np.float64]) -> GridSearchCV:
    """The published estimator, to a sharper tolerance than its own, which is relative to the first pass."""
    search = GridSearchCV(LinearSVR(random_state=42, max_iter=100_000, tol=1e-6), {"C": NUMBER_GRID}, cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        warnings.filterwarnings("ignore", "One or more of the test scores are non-finite")
        return search.fit(train.astype(np.float64), targets)


def check_against_scikit_learn(train: Vectors, targets: NDArray[np.float64], test: Vectors) -> Predictions:
    predictions = predict_numbers(train, targets, test, CORRECTED, NUMBER_GRID)
    search = search_by_scikit_learn(train, targets)
    assert predictions.chosen == (search.best_params_["C"],)
    np.testing.assert_allclose(
        predictions.grid_scores, search.cv_results_["mean_test_score"], rtol=1e-3, atol=1e-3
    )
    expected = search.predict(test.astype(np.float64))
    np.testing.assert_allclose(predictions.values, expected, atol=2e-3 * np.abs(targets).max())
    assert predictions.decisions.tolist() == predictions.values.tolist()
    assert (predictions.unconverged, predictions.open_count, predictions.one_class_fits) == (0, 0, 0)
    return predictions


def make_case(seed: int, rows: int, dimensions: int) -> Case:
    generator = np.random.default_rng(seed)
    vectors = generator.normal(size=(rows, dimensions)).astype(np.float32)
    return vectors, vectors @ generator.normal(size=dimensions) + generator.standard_t(3, size=rows) + 2.0


def make_huge() -> Case:
    vectors, targets = make_case(4, 90, 6)
    return vectors * np.float32(100), targets * 1e4


def make_repeated() -> Case:
    vectors, targets = make_case(5, 40, 5)
    return np.tile(vectors, (3, 1)), np.concatenate([targets, targets, 3 - targets])


def make_constant_column() -> Case:
    vectors, targets = make_case(6, 100, 6)
    vectors[:, 2] = 1.5
    vectors[:, 3] = 0.0
    return vectors, targets


CASES: dict[str, Callable[[], Case]] = {
    "more rows than dimensions": lambda: make_case(1, 200, 10),
    "more dimensions than rows": lambda: make_case(2, 60, 150),
    "as many": lambda: make_case(3, 64, 64),
    "a huge scale": make_huge,
    "repeated rows that contradict themselves": make_repeated,
    "constant columns": make_constant_column,
    "whole numbers, many of them equal": lambda: (make_case(7, 150, 5)[0], np.repeat([1.0, 2.0, 5.0], 50)),
}


@pytest.mark.parametrize("name", CASES)
def test_the_regression_is_scikit_learns(name: str) -> None:
    vectors, targets = CASES[name]()
    train = len(vectors) * 3 // 4
    check_against_scikit_learn(vectors[:train], targets[:train], vectors[train:])


def test_the_order_of_predictions_is_scikit_learns_at_its_own_tolerance() -> None:
    vectors, targets = make_case(8, 3_600, 30)
    vectors /= np.sqrt(np.float32(30))
    predictions = predict_numbers(vectors[:600], targets[:600], vectors[600:], CORRECTED, NUMBER_GRID)
    search = GridSearchCV(LinearSVR(random_state=42), {"C": NUMBER_GRID}, cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search.fit(vectors[:600].astype(np.float64), targets[:600])
    assert predictions.chosen == (search.best_params_["C"],)
    ours = kendalltau(targets[600:], predictions.values).statistic
    theirs = kendalltau(targets[600:], search.predict(vectors[600:].astype(np.float64))).statistic
    assert abs(ours - theirs) < 0.001


def test_constant_targets_are_met_and_r_squared_is_scikit_learns() -> None:
    vectors, _ = make_case(9, 60, 5)
    targets = np.full(60, 3.0)
    predictions = predict_numbers(vectors[:45], targets[:45], vectors[45:], CORRECTED, NUMBER_GRID)
    search = search_by_scikit_learn(vectors[:45], targets[:45])
    assert set(predictions.grid_scores) <= {0.0, 1.0}
    assert set(search.cv_results_["mean_test_score"]) <= {0.0, 1.0}
    np.testing.assert_allclose(predictions.values, search.predict(vectors[45:]), atol=3.0)


def test_a_held_out_paper_alone_has_no_r_squared_and_takes_the_first_c() -> None:
    vectors, targets = make_case(10, 5, 3)
    predictions = predict_numbers(vectors, targets, vectors, CORRECTED, NUMBER_GRID)
    search = search_by_scikit_learn(vectors, targets)
    assert predictions.chosen == (search.best_params_["C"],) == (1e-4,)
    assert np.isnan(predictions.grid_scores).all()
    assert np.isnan(search.cv_results_["mean_test_score"]).all()


def test_the_same_bits_on_any_number_of_threads_and_twice() -> None:
    vectors, targets = make_case(11, 1_500, 40)
    results = [
        predict_numbers(vectors[:1_200], targets[:1_200], vectors[1_200:], CORRECTED, (0.1, 1.0), threads)
        for threads in (1, 2, 3, 1)
    ]
    assert len({result.values.tobytes() for result in results}) == 1
    assert len({result.grid_scores.tobytes() for result in results}) == 1


def test_without_a_grid_there_is_one_fit() -> None:
    vectors, targets = make_case(12, 90, 4)
    predictions = predict_numbers(vectors[:60], targets[:60], vectors[60:], CORRECTED, None)
    assert predictions.chosen == (1.0,)
    assert predictions.grid_scores.shape == (0,)
    model = LinearSVR(C=1.0, max_iter=100_000, tol=1e-8).fit(vectors[:60].astype(np.float64), targets[:60])
    np.testing.assert_allclose(predictions.values, model.predict(vectors[60:]), atol=1e-4)


def test_a_fit_that_stops_at_the_limit_is_counted() -> None:
    vectors, targets = make_case(13, 90, 4)
    rules = Rules(intercept=True, tolerance=1e-4, max_epochs=1)
    predictions = predict_numbers(vectors, targets, vectors, rules, (1.0, 100.0))
    assert predictions.unconverged == 7  # two values of C in three folds, and the last fit


def test_fewer_papers_than_folds_are_an_error() -> None:
    vectors, targets = make_case(14, 2, 3)
    with pytest.raises(IndexingError, match="2 training papers; a search for C over 3 folds needs 3"):
        predict_numbers(vectors, targets, vectors, CORRECTED, NUMBER_GRID)


def test_a_target_that_is_no_number_is_an_error() -> None:
    vectors, targets = make_case(15, 9, 3)
    targets[4] = np.nan
    with pytest.raises(IndexingError, match="training answer 4 is not finite"):
        predict_numbers(vectors, targets, vectors, CORRECTED, NUMBER_GRID)
