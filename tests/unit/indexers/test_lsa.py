"""Reduced TF-IDF vectors: scikit-learn's, kept as words and numbers."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from pinakes.errors import IndexingError
from pinakes.indexers.lsa import LatentSemantics, build_lsa

WORDS = ["citation", "graph", "retrieval", "model", "query", "paper", "weather", "vector", "index"]
TEXTS = [" ".join(WORDS[place] for place in range(9) if (number >> place) & 1) for number in range(1, 60)]


def test_vectors_are_those_of_scikit_learn_whatever_the_order_of_the_texts(tmp_path: Path) -> None:
    built = build_lsa(tmp_path / "lsa", [*reversed(TEXTS), ""], dimensions=4)
    assert (built.row_count, built.parameters["dimensions"], built.parameters["words"]) == (60, 4, 6)
    vectors, known = LatentSemantics.open(tmp_path / "lsa").reduce([*TEXTS, "", "unheard of"])
    vectorizer = TfidfVectorizer()
    svd = TruncatedSVD(4, random_state=42).fit(vectorizer.fit_transform(sorted(TEXTS)))
    expected = svd.transform(vectorizer.transform(TEXTS))
    np.testing.assert_allclose(vectors[:-2], expected, rtol=1e-5, atol=1e-6)
    assert known.tolist() == [True] * len(TEXTS) + [False, False]
    build_lsa(tmp_path / "again", TEXTS, dimensions=4)
    assert (LatentSemantics.open(tmp_path / "again").reduce(TEXTS)[0] == vectors[:-2]).all()


def test_too_few_texts_and_texts_without_words_are_refused(tmp_path: Path) -> None:
    with pytest.raises(IndexingError, match="59 texts of 6 words make no vectors of 6 numbers"):
        build_lsa(tmp_path / "lsa", TEXTS, dimensions=6)
    with pytest.raises(IndexingError, match="of 2 papers 1 have a text, and none has a word"):
        build_lsa(tmp_path / "lsa", ["", "!"], dimensions=2)
    assert not (tmp_path / "lsa").exists()
    with pytest.raises(IndexingError):
        LatentSemantics.open(tmp_path / "lsa")
