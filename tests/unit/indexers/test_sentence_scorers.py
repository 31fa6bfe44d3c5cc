"""Scores of sentences: TF-IDF and BM25 by their definitions, vectors by hand, the regression's optimum."""

import math

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import cosine_similarity

from pinakes.errors import IndexingError
from pinakes.indexers.sentence_scorers.bm25 import Bm25Sentences
from pinakes.indexers.sentence_scorers.features import FEATURES, SentenceFeatures
from pinakes.indexers.sentence_scorers.logistic import Examples, choose_model, fit
from pinakes.indexers.sentence_scorers.tfidf import Analysis, TfidfSentences
from pinakes.indexers.sentence_scorers.vectors import compare_vectors

DOCUMENT = ["Neural networks rank papers.", "We thank everyone.", "Papers rank papers, neural or not.", ""]
QUERIES = ["Neural ranking of papers", "", "Ünïcode 漢字"]
SETTINGS = {"words": {}, "chars": {"analyzer": "char", "ngram_range": (3, 3)}}


@pytest.mark.parametrize("analysis", ["words", "chars"])
@pytest.mark.parametrize("training", [None, ["papers of neural nets", "graphs of papers"]])
def test_tfidf_is_scikit_learns(analysis: Analysis, training: list[str] | None) -> None:
    vectorizer = TfidfVectorizer(**SETTINGS[analysis]).fit(training or DOCUMENT)
    expected = cosine_similarity(vectorizer.transform(QUERIES), vectorizer.transform(DOCUMENT))
    found = TfidfSentences(analysis, training).score(DOCUMENT, QUERIES)
    assert np.abs(found - expected).max() < 1e-15
    assert found[0, 0] > 0 == found[1].max()


def test_a_document_without_terms_scores_zero() -> None:
    for scorer in (TfidfSentences("words"), TfidfSentences("chars"), Bm25Sentences("english")):
        assert scorer.score(["!", ""], ["a query"]).tolist() == [[0.0, 0.0]]
        assert scorer.score([], ["a query"]).shape == (1, 0)
    assert TfidfSentences("words", [""]).score(["a sentence"], ["a sentence"]).tolist() == [[0.0]]


def test_bm25_is_lucenes_formula() -> None:
    found = Bm25Sentences("words", k1=1.5, b=0.5).score(["a b b", "a", "c d"], ["b a b"])
    idf = {"a": math.log(1 + (3 - 2 + 0.5) / 2.5), "b": math.log(1 + (3 - 1 + 0.5) / 1.5)}
    norms = [1.5 * (0.5 + 0.5 * length / 2) for length in (3, 1)]
    expected = [
        2 * idf["b"] * 2 * 2.5 / (2 + norms[0]) + idf["a"] * 2.5 / (1 + norms[0]),
        idf["a"] * 2.5 / (1 + norms[1]),
        0.0,
    ]
    assert found[0] == pytest.approx(expected, abs=1e-12)
    trained = Bm25Sentences("words", training=["a"] * 9 + ["b"]).score(["a", "b"], ["a b"])
    assert trained[0, 1] > trained[0, 0] > 0


def test_vectors_are_compared_as_published_or_plainly() -> None:
    query = np.array([3.0, 4.0], dtype=np.float32)
    sentences = np.array([[3.0, 4.0], [-3.0, -4.0], [0.0, 0.0], [4.0, -3.0]], dtype=np.float32)
    assert compare_vectors(query, sentences, "cosine").tolist() == [1.0, -1.0, 0.0, 0.0]
    assert compare_vectors(query, sentences, "cosine", published=True).tolist() == [1.0, 0.0, 0.0, 0.0]
    assert compare_vectors(query, sentences, "inner_product").tolist() == [25.0, -25.0, 0.0, 0.0]
    assert compare_vectors(query, sentences, "l2").tolist() == [-0.0, -10.0, -5.0, -math.sqrt(50)]
    squared = np.array([0.0, 100.0, 25.0, 50.0])
    expected = 2 / (1 + np.exp(squared / 200))
    assert compare_vectors(query, sentences, "l2", published=True).tolist() == expected.tolist()
    far = np.full((1, 2), 1e6, dtype=np.float32)
    assert compare_vectors(query, far, "l2", published=True).tolist() == [0.0]


def test_features_are_of_the_sentence_its_place_and_its_match() -> None:
    found = SentenceFeatures().measure(["Neural nets [12].", "Weather."], ["neural nets", ""])
    assert found.shape == (2, 2, len(FEATURES))
    told = dict(zip(FEATURES, found[0, 0].tolist(), strict=True))
    assert (told["bm25_share"], told["cites"], told["place"]) == (1.0, 1.0, 0.25)
    assert told["digits"] == 2 / 17
    assert found[0, 1, FEATURES.index("bm25_before")] == told["bm25"] > 0
    assert not found[1, :, : FEATURES.index("place")].any()
    assert SentenceFeatures().measure([], ["q"]).shape == (1, 0, len(FEATURES))


def make_examples(seed: int = 0, rows: int = 400) -> Examples:
    random = np.random.default_rng(seed)
    features = random.normal(size=(rows, 4)) * [1, 5, 0.1, 0]
    labels = features[:, 0] + 0.2 * features[:, 1] + random.normal(size=rows) > 1.5
    return Examples(features, labels, random.integers(5, size=rows))


@pytest.mark.parametrize("c", [0.001, 1.0, 100.0])
def test_the_regression_is_scikit_learns(c: float) -> None:
    examples = make_examples()
    model, _steps = fit(examples.features, examples.labels, c)
    scaled = (examples.features - examples.features.mean(axis=0)) / np.where(
        examples.features.std(axis=0) > 0, examples.features.std(axis=0), 1
    )
    expected = LogisticRegression(C=c, tol=1e-10, max_iter=10_000).fit(scaled, examples.labels)
    assert model.weights == pytest.approx(expected.coef_[0], abs=1e-5)
    assert model.intercept == pytest.approx(expected.intercept_[0], abs=1e-5)
    assert model.score(examples.features) == pytest.approx(expected.decision_function(scaled), abs=1e-4)


def test_c_is_chosen_by_what_held_out_papers_score() -> None:
    examples = make_examples()
    seen = []

    def measure(scores: np.ndarray) -> float:
        seen.append(scores)
        return [0.1, 0.3, 0.3][len(seen) - 1]

    model, choices = choose_model(examples, measure, [0.01, 0.1, 1.0])
    assert [(one.c, one.fold_score, one.chosen) for one in choices] == [
        (0.01, 0.1, False),
        (0.1, 0.3, True),
        (1.0, 0.3, False),
    ]
    assert model.weights.tolist() == fit(examples.features, examples.labels, 0.1)[0].weights.tolist()
    held = examples.folds == 2
    without = fit(examples.features[~held], examples.labels[~held], 1.0)[0]
    assert seen[2][held] == pytest.approx(without.score(examples.features[held]), abs=1e-5)


def test_labels_of_one_kind_are_refused() -> None:
    examples = make_examples(rows=10)
    with pytest.raises(IndexingError, match="only one kind of label"):
        choose_model(Examples(examples.features, np.zeros(10, bool), examples.folds), lambda _scores: 0.0)
