"""Each label's classifier is scikit-learn's hinge classifier with a grid search of its own."""

import warnings
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC

from pinakes.errors import IndexingError
from pinakes.indexers.probes.base import CLASS_GRID, FEW_SHOT_C, RULES, Predictions, Rules, Vectors
from pinakes.indexers.probes.labels import predict_labels
from tests.long import alternate

CORRECTED, PUBLISHED = RULES["corrected"], RULES["published"]
Members = NDArray[np.bool_]
Case = tuple[Vectors, Members]


def search_by_scikit_learn(train: Vectors, column: Members, rules: Rules = CORRECTED) -> GridSearchCV:
    """The published estimator of one label, fitted; without warnings."""
    estimator = LinearSVC(
        loss="hinge", max_iter=100_000, fit_intercept=rules.intercept, tol=rules.tolerance, random_state=0
    )
    search = GridSearchCV(estimator, {"C": CLASS_GRID}, cv=3)
    with warnings.catch_warnings():
        for category in (ConvergenceWarning, FitFailedWarning, UserWarning):
            warnings.simplefilter("ignore", category)
        return search.fit(train.astype(np.float64), column.astype(np.int64))


def check_against_scikit_learn(train: Vectors, members: Members, test: Vectors, rules: Rules) -> Predictions:
    """Our predictions, whose C, fold scores and memberships are scikit-learn's."""
    predictions = predict_labels(train, members, test, rules, CLASS_GRID)
    for label, column in enumerate(members.T):
        search = search_by_scikit_learn(train, column, rules)
        assert predictions.chosen[label] == search.best_params_["C"]
        # A held-out paper so near to the boundary that the tolerance decides is worth 1 / its fold's size.
        np.testing.assert_allclose(
            predictions.grid_scores[:, label], search.cv_results_["mean_test_score"], atol=1.01 / len(train)
        )
        decisions = search.decision_function(test.astype(np.float64))
        assert (predictions.values[:, label] == (decisions > 0))[np.abs(decisions) > 1e-3].all()
        np.testing.assert_allclose(
            predictions.decisions[:, label], decisions, atol=2e-3 * np.abs(decisions).max()
        )
    assert predictions.unconverged == 0
    return predictions


def make_case(seed: int, rows: int, dimensions: int, share: float = 0.3) -> Case:
    """Vectors with three noisy labels that depend on them."""
    generator = np.random.default_rng(seed)
    vectors = generator.normal(size=(rows, dimensions)).astype(np.float32)
    scores = vectors @ generator.normal(size=(dimensions, 3)) + generator.normal(size=(rows, 3)) * 2
    return vectors, scores > np.quantile(scores, 1 - share, axis=0)


def make_rare() -> Case:
    vectors, members = make_case(4, 120, 8)
    members[:, 0] = False
    members[[5, 60, 100], 0] = True
    return vectors, members


def make_large() -> Case:
    # With fewer dimensions scikit-learn's solver does not come to an end.
    vectors, members = make_case(5, 60, 150)
    return vectors * np.float32(300), members


def make_repeated() -> Case:
    vectors, members = make_case(6, 40, 5)
    return np.tile(vectors, (3, 1)), np.vstack([members, members, ~members])


def make_constant_column() -> Case:
    vectors, members = make_case(7, 100, 6)
    vectors[:, 2] = 1.5
    vectors[:, 3] = 0.0
    return vectors, members


CASES: dict[str, Callable[[], Case]] = {
    "more rows than dimensions": lambda: make_case(1, 200, 10),
    "more dimensions than rows": lambda: make_case(2, 60, 150),
    "as many": lambda: make_case(3, 64, 64),
    "a rare label": make_rare,
    "a large scale": make_large,
    "repeated rows that contradict themselves": make_repeated,
    "constant columns": make_constant_column,
}


def name_value(value: str | Rules) -> str:
    return value if isinstance(value, str) else "corrected" if value is CORRECTED else "published"


@pytest.mark.parametrize(("name", "rules"), alternate([*CASES], [CORRECTED, PUBLISHED]), ids=name_value)
def test_every_label_is_scikit_learns(name: str, rules: Rules) -> None:
    vectors, members = CASES[name]()
    train = len(vectors) * 3 // 4
    check_against_scikit_learn(vectors[:train], members[:train], vectors[train:], rules)


def test_a_huge_scale_is_a_larger_c() -> None:
    # ½‖w‖² + C Σ loss(w·cx) is, with v = cw and times c², ½‖v‖² + c² C Σ loss(v·x).
    vectors, members = make_case(5, 90, 6)
    huge, scale = vectors * np.float32(1024), 1024.0
    ours = predict_labels(huge, members, huge, PUBLISHED, (1.0, 100.0))
    same = predict_labels(vectors, members, vectors, PUBLISHED, (scale**2, 100 * scale**2))
    assert ours.unconverged == same.unconverged == 0
    assert [scale**2 * limit for limit in ours.chosen] == list(same.chosen)
    np.testing.assert_allclose(ours.decisions, same.decisions, atol=1e-3)


def test_the_same_bits_on_any_number_of_threads_and_twice() -> None:
    vectors, members = make_case(1, 1_500, 40)
    results = [
        predict_labels(vectors[:1_200], members[:1_200], vectors[1_200:], CORRECTED, (0.1, 1.0), threads)
        for threads in (1, 2, 3, 1)
    ]
    for result in results[1:]:
        assert result.decisions.tobytes() == results[0].decisions.tobytes()
        assert result.chosen == results[0].chosen


def test_without_a_grid_there_is_one_fit_with_the_few_shot_c() -> None:
    vectors, members = make_case(8, 80, 10)
    predictions = predict_labels(vectors[:60], members[:60], vectors[60:], CORRECTED, None)
    assert predictions.chosen == (FEW_SHOT_C,) * 3
    assert predictions.grid_scores.shape == (0, 3)
    model = LinearSVC(C=FEW_SHOT_C, loss="hinge", max_iter=100_000, tol=1e-8)
    model.fit(vectors[:60].astype(np.float64), members[:60, 1])
    expected = model.decision_function(vectors[60:].astype(np.float64))
    np.testing.assert_allclose(predictions.decisions[:, 1], expected, atol=1e-5)


def test_labels_of_one_class_are_predicted_so_and_counted() -> None:
    vectors, members = make_case(9, 40, 5)
    members[:, 0] = False
    members[:, 2] = True
    predictions = predict_labels(vectors, members, vectors[:7], CORRECTED, CLASS_GRID)
    assert predictions.values[:, 0].tolist() == [False] * 7
    assert predictions.values[:, 2].tolist() == [True] * 7
    assert predictions.decisions[:, [0, 2]].tolist() == [[-1.0, 1.0]] * 7
    assert predictions.one_class_fits == 2
    assert (predictions.chosen[0], predictions.chosen[2]) == (0.01, 0.01)
    assert np.isnan(predictions.grid_scores[:, [0, 2]]).all()
    # scikit-learn's OneVsRestClassifier would take 0.5 as every label's threshold here.
    assert (predictions.values[:, 1] == (predictions.decisions[:, 1] > 0)).all()


def test_a_single_positive_leaves_no_score_and_takes_the_first_c_as_scikit_learn_does() -> None:
    vectors, members = make_case(10, 30, 5)
    members[:, 0] = False
    members[11, 0] = True
    predictions = predict_labels(vectors, members[:, :1], vectors, CORRECTED, CLASS_GRID)
    search = search_by_scikit_learn(vectors, members[:, 0])
    assert predictions.chosen == (search.best_params_["C"],) == (0.01,)
    assert np.isnan(search.cv_results_["mean_test_score"]).all()
    assert np.isnan(predictions.grid_scores).all()
    assert predictions.one_class_fits == len(CLASS_GRID)
    assert (predictions.values[:, 0] == search.predict(vectors)).all()


def test_two_positives_are_searched_as_scikit_learn_does() -> None:
    vectors, members = make_case(11, 45, 5)
    members[:, 0] = False
    members[[3, 40], 0] = True
    predictions = check_against_scikit_learn(vectors, members[:, :1], vectors, CORRECTED)
    assert predictions.one_class_fits == 0


def test_too_few_papers_for_folds_take_the_few_shot_c() -> None:
    vectors = np.eye(4, dtype=np.float32)
    members = np.array([[True], [True], [False], [False]])
    predictions = predict_labels(vectors, members, vectors, CORRECTED, CLASS_GRID)
    assert predictions.chosen == (FEW_SHOT_C,)
    assert np.isnan(predictions.grid_scores).all()
    assert predictions.values.tolist() == members.tolist()


def test_a_fit_that_stops_at_the_limit_is_counted() -> None:
    vectors, members = make_case(12, 90, 4)
    rules = Rules(intercept=True, tolerance=1e-4, max_label_epochs=1)
    predictions = predict_labels(vectors, members[:, :1], vectors, rules, (1.0, 100.0))
    assert predictions.unconverged == 7  # two values of C in three folds, and the last fit


def test_a_prediction_on_the_boundary_is_open() -> None:
    vectors = np.array([[-1.0, 0.0], [1.0, 0.0]] * 6, dtype=np.float32)
    members = np.array([[False], [True]] * 6)
    test = np.array([[0.0, 1.0], [0.5, 0.0], [-0.5, 0.0]], dtype=np.float32)
    predictions = predict_labels(vectors, members, test, PUBLISHED, CLASS_GRID)
    assert predictions.open_count == 1
    assert predictions.values.tolist() == [[False], [True], [False]]


@pytest.mark.parametrize(
    ("train", "members", "test", "grid", "message"),
    [
        (np.zeros((0, 2)), np.zeros((0, 1)), np.zeros((1, 2)), CLASS_GRID, "one at least"),
        (np.zeros((3, 2)), np.zeros((4, 1)), np.zeros((1, 2)), CLASS_GRID, "with 4 answers"),
        (np.zeros((3, 2)), np.zeros((3, 1)), np.zeros((1, 3)), CLASS_GRID, "as many dimensions in both"),
        (np.full((3, 2), np.nan), np.zeros((3, 1)), np.zeros((1, 2)), CLASS_GRID, "training vector 0 is not"),
        (np.zeros((3, 2)), np.zeros((3, 1)), np.full((1, 2), np.inf), CLASS_GRID, "test vector 0 is not"),
        (np.zeros((3, 2)), np.zeros((3, 1)), np.zeros((1, 2)), (1.0, 0.0), "expected positive values"),
        (np.zeros((3, 2)), np.zeros((3, 1)), np.zeros((1, 2)), (), "expected positive values"),
    ],
)
def test_input_that_is_none_is_an_error(
    train: Vectors, members: Members, test: Vectors, grid: tuple[float, ...], message: str
) -> None:
    with pytest.raises(IndexingError, match=message):
        predict_labels(train.astype(np.float32), members.astype(np.bool_), test, CORRECTED, grid)
