"""Classes are scikit-learn's, in every shape of training set, and what cannot be told is counted."""

import csv
import hashlib
import math
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import LinearSVC

from pinakes.errors import IndexingError
from pinakes.indexers.probes import classes as probe_classes
from pinakes.indexers.probes.base import CLASS_GRID, RULES, Predictions, Vectors
from pinakes.indexers.probes.classes import predict_classes
from pinakes.indexers.probes.products import Codes
from tests.real_data import REAL_DATA, needs_real_data

CORRECTED = RULES["corrected"]
GOLD = REAL_DATA / "drsm/v1/initial_gold_standard_data_2022_01_03.tsv"


def make_data(
    shape: tuple[int, int], shares: list[float], seed: int, apart: float = 0.25
) -> tuple[Vectors, Codes, Vectors]:
    """Clusters that overlap, of a spectrum that decays, off centre: (n, d) with classes, and 300 to test."""
    random = np.random.default_rng(seed)
    rows, width = shape
    spectrum = np.arange(1, width + 1) ** -0.5
    centres = apart * random.standard_normal((len(shares), width))
    classes = random.choice(len(shares), rows + 300, p=shares)
    vectors = ((random.standard_normal((rows + 300, width)) + centres[classes] + 0.3) * spectrum).astype(
        np.float32
    )
    return vectors[:rows], classes[:rows], vectors[rows:]


def add_constants(vectors: Vectors) -> Vectors:
    more = np.broadcast_to(np.array([0, 3], dtype=np.float32), (len(vectors), 2))
    return np.hstack([vectors, more])


def fit_peer(train: Vectors, classes: Codes, intercept: bool = True) -> Any:
    model = LinearSVC(loss="squared_hinge", random_state=42, fit_intercept=intercept)
    return GridSearchCV(model, {"C": np.logspace(-2, 2, 5)}, cv=3).fit(train, classes)


SETS: dict[str, tuple[Vectors, Codes, Vectors]] = {
    "two classes": make_data((500, 12), [0.5, 0.5], 1),
    "five classes": make_data((700, 24), [0.2] * 5, 2),
    "unbalanced": make_data((800, 16), [0.86, 0.08, 0.04, 0.02], 3),
    "more dimensions than examples": make_data((90, 200), [0.4, 0.3, 0.3], 4),
    "as many dimensions as examples": make_data((120, 120), [0.5, 0.5], 5),
    "rare": make_data((400, 10), [0.497, 0.497, 0.006], 12),
}
TRAIN, CLASSES, TEST = make_data((600, 16), [0.4, 0.3, 0.3], 6)
SETS |= {
    "constant features": (add_constants(TRAIN), CLASSES, add_constants(TEST)),
    "duplicated rows": (np.repeat(TRAIN, 3, axis=0), np.repeat(CLASSES, 3), TEST),
    "sorted by class": (TRAIN[np.argsort(CLASSES)], np.sort(CLASSES), TEST),
    "large": (TRAIN * np.float32(30), CLASSES, TEST * np.float32(30)),
    "small": (TRAIN / np.float32(100), CLASSES, TEST / np.float32(100)),
}


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("name", SETS)
def test_predictions_and_c_are_scikit_learns(name: str) -> None:
    train, classes, test = SETS[name]
    peer = fit_peer(train, classes)
    found = predict_classes(train, classes, test, CORRECTED, CLASS_GRID)
    assert found.chosen == (float(peer.best_params_["C"]),)
    assert found.values.tolist() == peer.predict(test).tolist()
    assert found.grid_scores.tolist() == peer.cv_results_["mean_test_score"].tolist()
    values = peer.decision_function(test)
    expected = np.abs(values) if values.ndim == 1 else values.max(axis=1)
    np.testing.assert_allclose(found.decisions, expected, atol=2e-3 * np.abs(values).max())
    assert (found.open_count, found.unconverged, found.one_class_fits) == (0, 0, 0)


def test_published_rules_have_no_intercept() -> None:
    train, classes, test = SETS["five classes"]
    peer = fit_peer(train, classes, intercept=False)
    found = predict_classes(train, classes, test, RULES["published"], CLASS_GRID)
    assert found.chosen == (float(peer.best_params_["C"]),)
    assert found.values.tolist() == peer.predict(test).tolist()
    assert predict_classes(train, classes, 0 * test, RULES["published"], CLASS_GRID).open_count == len(test)


def test_without_a_grid_c_is_one() -> None:
    train, classes, test = SETS["more dimensions than examples"]
    peer = LinearSVC(random_state=42, tol=1e-8, max_iter=100_000).fit(train, classes)
    found = predict_classes(train, classes, test, CORRECTED, None)
    assert (found.chosen, found.grid_scores.tolist()) == ((1.0,), [])
    assert found.values.tolist() == peer.predict(test).tolist()
    np.testing.assert_allclose(found.decisions, peer.decision_function(test).max(axis=1), atol=1e-5)


def test_values_that_are_far_too_large_still_have_an_optimum() -> None:
    train, classes, test = SETS["two classes"]
    found = predict_classes(1e6 * train, classes, 1e6 * test, CORRECTED, None)
    peer = predict_classes(train, classes, test, CORRECTED, (1e12,))
    assert found.unconverged == 0
    # The intercept alone is scaled otherwise.
    assert np.mean(found.values == peer.values) > 0.99


@pytest.mark.parametrize("scale", [1e10, 1e15])
def test_duplicates_that_are_far_too_large_are_told_apart_still(scale: float) -> None:
    train, classes, _ = SETS["more dimensions than examples"]
    twice = np.repeat(train, 2, axis=0) * np.float32(scale)
    found = predict_classes(twice, np.repeat(classes, 2), twice, CORRECTED, None)
    assert found.values.tolist() == np.repeat(classes, 2).tolist()


def equal_bits(left: Predictions, right: Predictions) -> bool:
    pairs = [
        (left.values, right.values),
        (left.decisions, right.decisions),
        (left.grid_scores, right.grid_scores),
    ]
    return all(a.tobytes() == b.tobytes() for a, b in pairs) and left.chosen == right.chosen


def test_bits_do_not_depend_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    train, classes, test = make_data((3000, 40), [0.4, 0.3, 0.2, 0.1], 7)
    found = []
    for count in (1, 2, 5):
        monkeypatch.setattr("os.cpu_count", lambda count=count: count)
        found.append(predict_classes(train, classes, test, CORRECTED, CLASS_GRID))
    assert equal_bits(found[0], found[1])
    assert equal_bits(found[0], found[2])


def test_labels_in_groups_are_the_same_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    train, classes, test = SETS["five classes"]
    whole = predict_classes(train, classes, test, CORRECTED, CLASS_GRID)
    monkeypatch.setattr(probe_classes, "GROUP_BYTES", 1)
    parts = predict_classes(train, classes, test, CORRECTED, CLASS_GRID)
    assert whole.values.tolist() == parts.values.tolist()
    assert whole.grid_scores.tolist() == parts.grid_scores.tolist()


def test_the_order_of_the_grid_decides_nothing_but_equals() -> None:
    train, classes, test = SETS["five classes"]
    forth = predict_classes(train, classes, test, CORRECTED, CLASS_GRID)
    back = predict_classes(train, classes, test, CORRECTED, CLASS_GRID[::-1])
    assert back.grid_scores.tolist() == forth.grid_scores[::-1].tolist()
    assert back.values.tolist() == forth.values.tolist()


def test_examples_of_one_class_predict_it() -> None:
    train, _, test = SETS["two classes"]
    found = predict_classes(train, np.full(len(train), 3), test, CORRECTED, CLASS_GRID)
    assert found.values.tolist() == [3] * len(test)
    assert (found.one_class_fits, found.chosen) == (1, (1.0,))
    assert np.isnan(found.grid_scores).tolist() == [True] * 5


def test_a_fold_of_one_class_predicts_it_and_is_counted() -> None:
    # The only example of class 1 is tested in a fold of two examples, and class 0 alone trains there.
    train = np.array([[0.0], [1.0], [2.0], [3.0], [9.0]], dtype=np.float32)
    found = predict_classes(train, np.array([0, 0, 0, 0, 1]), train, CORRECTED, (1.0, 10.0))
    assert found.one_class_fits == 2
    assert found.values.tolist() == [0, 0, 0, 0, 1]
    assert found.grid_scores.tolist() == pytest.approx([(1 / 2 + 1 + 1) / 3] * 2)


def test_without_three_examples_of_any_class_there_is_no_grid_search() -> None:
    train, _, test = SETS["two classes"]
    found = predict_classes(train[:5], np.array([0, 1, 2, 0, 1]), test, CORRECTED, CLASS_GRID)
    assert (found.chosen, np.isnan(found.grid_scores).tolist()) == ((1.0,), [True] * 5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"classes": np.zeros(3, dtype=np.int64)}, "expected an answer for each training vector"),
        ({"test": np.zeros((2, 5), dtype=np.float32)}, "as many dimensions in both"),
        (
            {"train": np.zeros((0, 12), dtype=np.float32), "classes": np.zeros(0, dtype=np.int64)},
            "with 0 answers",
        ),
        ({"test": np.full((2, 12), np.nan, dtype=np.float32)}, "test vector 0 is not finite"),
        ({"grid": (1.0, 1.0)}, "positive values, each once"),
        ({"grid": (0.0, 1.0)}, "positive values, each once"),
        ({"grid": ()}, "positive values, each once"),
    ],
)
def test_wrong_input_is_named(change: dict[str, Any], message: str) -> None:
    train, classes, test = SETS["two classes"]
    given: dict[str, Any] = {
        "train": train,
        "classes": classes,
        "test": test,
        "rules": CORRECTED,
        "grid": CLASS_GRID,
    }
    with pytest.raises(IndexingError, match=message):
        predict_classes(**(given | change))


def test_no_test_papers_no_predictions() -> None:
    train, classes, test = SETS["two classes"]
    assert len(predict_classes(train, classes, test[:0], CORRECTED, None).values) == 0


@pytest.fixture(scope="module")
def drsm() -> tuple[Vectors, Codes, np.ndarray]:
    """DRSM's gold papers as TF-IDF and SVD vectors, their classes, and which are for testing."""
    papers: dict[str, dict[str, str]] = {}
    with GOLD.open(encoding="utf-8", newline="") as lines:
        for record in csv.DictReader(lines, delimiter="\t"):
            papers.setdefault("drsm:" + record["ID_PAPER"], record)
    found = [re.match(r"[\d.]*\d|", record["PRIMARY_CATEGORY"]) for record in papers.values()]
    numbers = [match.group() if match else "" for match in found]
    counts = Counter(numbers)
    labels = [number if number and counts[number] >= 60 else "other" for number in numbers]
    texts = [f"{record['TITLE']} {record['ABSTRACT']}".strip() for record in papers.values()]
    vectors = TruncatedSVD(128, random_state=42).fit_transform(TfidfVectorizer().fit_transform(texts))
    digests = [hashlib.md5(name.encode(), usedforsecurity=False).hexdigest() for name in papers]
    tested = np.array([int(digest[:8], 16) % 10 < 3 for digest in digests])
    return vectors.astype(np.float32), np.unique(labels, return_inverse=True)[1], tested


DRSM_FIGURES = {"corrected": (74.22, 77.01, 36.68, 46.85), "published": (74.53, 77.01, 40.17, 48.27)}


@needs_real_data
@pytest.mark.parametrize("mode", DRSM_FIGURES)
def test_drsm_figures_are_those_of_the_published_evaluator(mode: Any, drsm: Any) -> None:
    vectors, classes, tested = drsm
    train, known, test, true = vectors[~tested], classes[~tested], vectors[tested], classes[tested]
    found = predict_classes(train, known, test, RULES[mode], CLASS_GRID)
    scores = [100 * f1_score(true, found.values, average="macro"), 100 * accuracy_score(true, found.values)]
    for size, draws in ((24, 33), (64, 13)):
        splits = list(StratifiedKFold(math.ceil(len(train) / size)).split(train, known))
        assert len(splits) == draws
        shots = [predict_classes(train[few], known[few], test, RULES[mode], None).values for _, few in splits]
        scores.append(np.mean([round(100 * f1_score(true, each, average="macro"), 2) for each in shots]))
    assert found.chosen == (1.0,)
    assert scores == pytest.approx(DRSM_FIGURES[mode], abs=0.1)


@needs_real_data
def test_drsm_predictions_are_scikit_learns(drsm: Any) -> None:
    vectors, classes, tested = drsm
    peer = fit_peer(vectors[~tested], classes[~tested])
    found = predict_classes(vectors[~tested], classes[~tested], vectors[tested], CORRECTED, CLASS_GRID)
    assert found.values.tolist() == peer.predict(vectors[tested]).tolist()
    assert (found.open_count, found.unconverged) == (0, 0)
