"""How well each sentence of a document answers a query, by TF-IDF, BM25 or the cosine of vectors.

A document is its sentences; what a term weighs is counted over them, or over other texts. Source of the
TF-IDF scores: ROUGE-SciQFS, scripts and 08_cosine_similarity.ipynb, which fit scikit-learn's
`TfidfVectorizer` with its defaults on the sentences of one paper, by words or by trigrams of characters.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import UnknownNameError
from pinakes.indexers.analysis import english_analysis, well_formed
from pinakes.indexers.names import Distance

Terms = Literal["words", "chars"]
Scores = NDArray[np.float64]

K1: Final = 1.2
B: Final = 0.75


class SentenceTfidf:
    """TF-IDF fitted on some texts: scikit-learn's defaults, rows of Euclidean length 1.

    `words` are runs of two or more letters and digits, `chars` trigrams of characters, spaces among them;
    both lower-cased. A term that no text holds has no weight and lengthens nothing.
    """

    def __init__(self, texts: Sequence[str], terms: Terms = "words") -> None:
        """Count the terms of the texts.

        Raises:
            UnknownNameError: `terms` is neither.
        """
        if terms not in get_args(Terms):
            raise UnknownNameError("terms", terms, list(get_args(Terms)))
        from sklearn.feature_extraction.text import TfidfVectorizer  # imported late: it takes a second

        by_characters = {"analyzer": "char", "ngram_range": (3, 3)} if terms == "chars" else {}
        self._vectorizer: Any = TfidfVectorizer(**by_characters)
        try:
            self._vectorizer.fit(texts)
        except ValueError as problem:
            if "empty vocabulary" not in str(problem):
                raise
            self._vectorizer = None  # no text holds a term

    def weigh(self, sentences: Sequence[str]) -> Any:
        """The weighted terms of sentences, a CSR matrix (n, v) of float64; None where no text held a term."""
        if self._vectorizer is None or not len(sentences):
            return None
        return self._vectorizer.transform(sentences)

    def score(self, query: str, weighed: Any, sentences: int) -> Scores:
        """The cosine of the query with each row of `weigh` (n,), 0 to 1; 0 where they share no term.

        `sentences` is n, which a document without a term does not say itself.
        """
        if weighed is None:
            return np.zeros(sentences)
        scores: Scores = (weighed @ self._vectorizer.transform([query]).T).toarray().ravel()
        return scores


class SentenceBm25:
    """BM25 over the sentences of one document, by Lucene's formula, with exact lengths; k1 1.2, b 0.75.

    The terms are those of the system `bm25`: stemmed, without stop words.
    """

    def __init__(self, sentences: Sequence[str]) -> None:
        self._analyser = english_analysis().build()
        counted = [Counter(self._analyse(sentence)) for sentence in sentences]
        lengths = np.array([counts.total() for counts in counted], dtype=np.float64)
        average = lengths.mean() if lengths.any() else 1.0
        self._norms: Scores = K1 * (1 - B + B * lengths / average)
        self._postings: dict[str, tuple[list[int], list[int]]] = {}
        for place, counts in enumerate(counted):
            for term, count in counts.items():
                places, found = self._postings.setdefault(term, ([], []))
                places.append(place)
                found.append(count)

    def score(self, query: str) -> Scores:
        """The score of each sentence (n,), 0 where it shares no term.

        A term of the query counts as often as it has it.
        """
        scores = np.zeros(len(self._norms))
        for term, count in sorted(Counter(self._analyse(query)).items()):
            places, found = self._postings.get(term, ([], []))
            frequencies = np.array(found, dtype=np.float64)
            idf = np.log1p((len(scores) - len(places) + 0.5) / (len(places) + 0.5))
            scores[places] += count * idf * frequencies * (K1 + 1) / (frequencies + self._norms[places])
        return scores

    def _analyse(self, text: str) -> list[str]:
        found: list[str] = self._analyser.analyze(well_formed(text))
        return found


def score_tfidf(query: str, sentences: Sequence[str], terms: Terms = "words") -> Scores:
    """The cosine of the query with each sentence (n,), by TF-IDF that is fitted on the sentences.

    >>> score_tfidf("ranking papers", ["We rank papers.", "Ranking is hard.", ""]).round(4).tolist()
    [0.4082, 0.4082, 0.0]
    """
    fitted = SentenceTfidf(sentences, terms)
    return fitted.score(query, fitted.weigh(sentences), len(sentences))


def score_bm25(query: str, sentences: Sequence[str]) -> Scores:
    """The BM25 score of each sentence (n,) among the sentences.

    >>> score_bm25("ranking papers", ["We rank papers.", "Ranking is hard.", ""]).round(4).tolist()
    [1.2045, 0.3902, 0.0]
    """
    return SentenceBm25(sentences).score(query)


def score_vectors(
    query: NDArray[np.floating[Any]], sentences: NDArray[np.floating[Any]], distance: Distance = "cosine"
) -> Scores:
    """How near a vector (d,) is to each row of a matrix (n, d), in float64; higher is nearer.

    The cosine, which is 0 with a vector of zeros; the inner product; or, of `l2`, minus the Euclidean
    distance: the published 2 / (1 + exp(l2² / 200)) ranks alike but for what underflows.

    >>> rows = np.array([[1.0, 0], [1, 1], [0, 0]])
    >>> score_vectors(np.array([2.0, 0]), rows).round(4).tolist()
    [1.0, 0.7071, 0.0]
    >>> score_vectors(np.array([2.0, 0]), rows, "l2").round(4).tolist()
    [-1.0, -1.4142, -2.0]
    """
    asked, rows = query.astype(np.float64), sentences.astype(np.float64)
    # not by BLAS, whose sums depend on the number of threads
    if distance == "l2":
        apart: Scores = -np.sqrt(np.square(rows - asked).sum(axis=1))
        return apart
    products: Scores = np.einsum("nd,d->n", rows, asked)
    if distance == "inner_product":
        return products
    lengths = np.sqrt(np.einsum("nd,nd->n", rows, rows) * np.einsum("d,d->", asked, asked))
    cosines: Scores = np.divide(products, lengths, out=np.zeros(len(rows)), where=lengths > 0)
    return cosines
