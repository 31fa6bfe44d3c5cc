"""TF-IDF vectors of the most frequent terms: those of `tfidf` where all terms are kept."""

from pathlib import Path

import numpy as np
import pytest

from pinakes.errors import IndexingError
from pinakes.indexers.term_vectors import TermVectors, build_term_vectors
from pinakes.indexers.tfidf import TfidfIndex, build_tfidf

TEXTS = ["graphs of papers", "a graph of graphs", "papers and weather", "citing papers", "", "the"]


def test_all_terms_are_the_vectors_of_tfidf(tmp_path: Path) -> None:
    built = build_term_vectors(tmp_path / "terms", [*reversed(TEXTS)])
    assert (built.row_count, built.parameters["terms"], built.parameters["dimensions"]) == (6, 4, 2_048)
    model = TermVectors.open(tmp_path / "terms")
    vectors, known = model.weigh([*TEXTS, "unheard"])
    assert (model.dimensions, *vectors.shape, str(vectors.dtype)) == (4, 7, 4, "float32")
    assert known.tolist() == [True] * 4 + [False] * 3
    build_tfidf(tmp_path / "tfidf", [(number, {"text": text}) for number, text in enumerate(TEXTS)])
    rows = TfidfIndex.open(tmp_path / "tfidf").weigh(TEXTS)
    expected = np.zeros((6, 4))
    for row in range(6):
        held = slice(rows.starts[row], rows.starts[row + 1])
        expected[row, rows.terms[held]] = rows.weights[held]
    np.testing.assert_allclose(vectors[:6], expected, rtol=1e-6)


def test_the_most_frequent_terms_are_kept_ties_by_the_term(tmp_path: Path) -> None:
    # paper is in three texts, graph in two, cite and weather in one.
    build_term_vectors(tmp_path / "terms", TEXTS, dimensions=3)
    model = TermVectors.open(tmp_path / "terms")
    vectors, known = model.weigh(["cites", "graph", "paper", "weather"])
    assert vectors.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert known.tolist() == [True, True, True, False]


def test_texts_without_terms_and_a_folder_that_is_not_whole_are_refused(tmp_path: Path) -> None:
    with pytest.raises(IndexingError, match="of 2 papers none has a word"):
        build_term_vectors(tmp_path / "terms", ["", "the"])
    assert not (tmp_path / "terms").exists()
    build_term_vectors(tmp_path / "terms", TEXTS)
    (tmp_path / "terms" / "vocabulary.json").unlink()
    with pytest.raises(IndexingError, match="build the index again"):
        TermVectors.open(tmp_path / "terms")
