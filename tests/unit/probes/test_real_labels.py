"""On vectors of real texts, labels and numbers are scikit-learn's within 0.1 points, with its C."""

import gzip
import json
import warnings

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import kendalltau
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC, LinearSVR

from pinakes.indexers.probes.base import CLASS_GRID, NUMBER_GRID, RULES, Vectors
from pinakes.indexers.probes.labels import predict_labels
from pinakes.indexers.probes.numbers import predict_numbers
from tests.real_data import REAL_DATA, needs_real_data

CORRECTED = RULES["corrected"]


def make_vectors(texts: list[str], dimensions: int) -> Vectors:
    weights = TfidfVectorizer().fit_transform(texts)
    vectors: Vectors = TruncatedSVD(dimensions, random_state=42).fit_transform(weights).astype(np.float32)
    return vectors


def read_fields() -> tuple[Vectors, NDArray[np.bool_]]:
    """The sample of fields of study: 205 papers, 23 labels of 1 to 26 papers."""
    papers = json.loads((REAL_DATA / "scirepeval" / "sample_data" / "fos_small.json").read_text())
    members = np.zeros((len(papers), 23), dtype=np.bool_)
    for row, paper in enumerate(papers):
        members[row, paper["labels"]] = True
    texts = [f"{paper['title'] or ''} {paper['abstract'] or ''}" for paper in papers]
    return make_vectors(texts, 64), members


def read_papers() -> tuple[Vectors, list[dict[str, str]]]:
    """NeurIPS papers with their years and citations, each fifth of the list."""
    with gzip.open(REAL_DATA / "paperlists" / "nips.jsonl.gz", "rt", encoding="utf-8") as lines:
        papers = [json.loads(line) for line in lines]
    known = [paper for paper in papers if int(paper.get("gs_citation") or -1) >= 0 and paper["abstract"]]
    papers = known[::5]
    order = np.random.default_rng(1).permutation(len(papers))
    papers = [papers[row] for row in order]
    return make_vectors([f"{paper['title']} {paper['abstract']}" for paper in papers], 100), papers


@needs_real_data
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_fields_of_study_are_scikit_learns() -> None:
    vectors, members = read_fields()
    train, test = slice(150), slice(150, None)
    predictions = predict_labels(vectors[train], members[train], vectors[test], CORRECTED, CLASS_GRID)
    expected = np.zeros_like(members[test])
    estimator = LinearSVC(loss="hinge", max_iter=10_000, random_state=0)
    for label, column in enumerate(members[train].T):
        if not column.any():
            continue
        search = GridSearchCV(estimator, {"C": CLASS_GRID}, cv=3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", FitFailedWarning)
            search.fit(vectors[train].astype(np.float64), column)
        assert predictions.chosen[label] == search.best_params_["C"]
        expected[:, label] = search.predict(vectors[test].astype(np.float64))
    ours, theirs = (
        f1_score(members[test], values, average="macro", zero_division=0)
        for values in (predictions.values, expected)
    )
    assert abs(ours - theirs) < 0.001
    assert (predictions.values != expected).sum() <= 1
    assert expected.any()
    assert predictions.unconverged == 0


@needs_real_data
@pytest.mark.parametrize("what", ["citations", "year"])
def test_citations_and_years_are_scikit_learns(what: str) -> None:
    vectors, papers = read_papers()
    if what == "citations":
        targets = np.log1p([float(paper["gs_citation"]) for paper in papers])
    else:
        targets = (np.array([float(paper["year"]) for paper in papers]) - 2000) / 10
    train, test = slice(len(papers) * 2 // 3), slice(len(papers) * 2 // 3, None)
    predictions = predict_numbers(vectors[train], targets[train], vectors[test], CORRECTED, NUMBER_GRID)
    search = GridSearchCV(LinearSVR(random_state=42), {"C": NUMBER_GRID}, cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search.fit(vectors[train].astype(np.float64), targets[train])
    assert predictions.chosen == (search.best_params_["C"],)
    ours = kendalltau(targets[test], predictions.values).statistic
    theirs = kendalltau(targets[test], search.predict(vectors[test].astype(np.float64))).statistic
    assert abs(ours - theirs) < 0.001
    assert theirs > 0.1
