"""Cosine of the TF-IDF vectors of sentences and queries, as scikit-learn's TfidfVectorizer makes them.

Fitted on the sentences of each document, as ROUGE-SciQFS does, or on those of a training set. Defaults of the
vectorizer: lower case, words of two characters or more (`words`), or trigrams of characters with white space
(`chars`); raw counts, smooth idf, length 1.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

Analysis = Literal["words", "chars"]

ANALYSES: Final[tuple[Analysis, ...]] = get_args(Analysis)
TRIGRAMS: Final = (3, 3)


class TfidfSentences:
    """Scores sentences by TF-IDF; `training`: the sentences to fit on, None: those of each document."""

    def __init__(self, analysis: Analysis, training: Iterable[str] | None = None) -> None:
        self._analysis = analysis
        self._fitted = None if training is None else self._fit(training)
        self._fits_documents = training is None

    def score(self, sentences: Sequence[str], queries: Sequence[str]) -> NDArray[np.float64]:
        """The cosine of each query with each sentence (queries, sentences); 0 of texts without a term.

        >>> TfidfSentences("words").score(["Neural nets.", "The weather."], ["neural ranking"]).tolist()
        [[0.7071067811865476, 0.0]]
        """
        fitted = self._fit(sentences) if self._fits_documents else self._fitted
        if fitted is None or not sentences:
            return np.zeros((len(queries), len(sentences)))
        vectorizer, known = fitted
        vectors = known if self._fits_documents else vectorizer.transform(sentences)
        products = vectorizer.transform(queries) @ vectors.T
        found: NDArray[np.float64] = products.toarray().astype(np.float64)
        return found

    def _fit(self, texts: Iterable[str]) -> tuple[Any, Any] | None:
        """The vectorizer and the vectors of the texts; None where they have no term."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        chars = {"analyzer": "char", "ngram_range": TRIGRAMS} if self._analysis == "chars" else {}
        vectorizer = TfidfVectorizer(**chars)
        try:
            return vectorizer, vectorizer.fit_transform(texts)
        except ValueError as problem:
            if "empty vocabulary" in str(problem):
                return None
            raise
