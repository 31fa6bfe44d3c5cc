"""What a logistic regression reads of a sentence: how it matches the query, where it stands, how it looks."""

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.sentence_scorers.bm25 import Bm25Sentences
from pinakes.indexers.sentence_scorers.tfidf import TfidfSentences

MATCHES: Final = ("bm25", "bm25_share", "tfidf_words", "tfidf_chars", "bm25_before", "bm25_behind")
PLACES: Final = ("place", "place_squared", "log_sentences", "log_words", "digits", "cites")
FEATURES: Final = MATCHES + PLACES

_CITES: Final = re.compile(
    r"\{\{cite|\[[0-9]|\bet al\b|\([^()]*\b(?:19|20)[0-9]{2}[a-z]?\)|\b(?:19|20)[0-9]{2}\)"
)


class SentenceFeatures:
    """Features of sentences; the term statistics are those of each document."""

    def __init__(self) -> None:
        self._bm25 = Bm25Sentences("english")
        self._words, self._chars = TfidfSentences("words"), TfidfSentences("chars")

    def measure(self, sentences: Sequence[str], queries: Sequence[str]) -> NDArray[np.float64]:
        """The features of each sentence for each query (queries, sentences, features), by `FEATURES`."""
        found = np.zeros((len(queries), len(sentences), len(FEATURES)))
        if not sentences:
            return found
        scores = self._bm25.score(sentences, queries)
        highest = scores.max(axis=1, keepdims=True)
        found[:, :, 0] = np.log1p(scores)
        found[:, :, 1] = np.divide(scores, highest, out=np.zeros_like(scores), where=highest > 0)
        found[:, :, 2] = self._words.score(sentences, queries)
        found[:, :, 3] = self._chars.score(sentences, queries)
        found[:, 1:, 4] = found[:, :-1, 0]
        found[:, :-1, 5] = found[:, 1:, 0]
        found[:, :, len(MATCHES) :] = _describe(sentences)
        return found


def _describe(sentences: Sequence[str]) -> NDArray[np.float64]:
    """The features that no query changes (sentences, places)."""
    place = (np.arange(len(sentences)) + 0.5) / len(sentences)
    words = np.array([len(text.split()) for text in sentences], dtype=np.float64)
    digits = [sum(map(str.isdigit, text)) / max(len(text), 1) for text in sentences]
    cites = [float(_CITES.search(text) is not None) for text in sentences]
    size = np.full(len(sentences), np.log1p(len(sentences)))
    return np.stack([place, place**2, size, np.log1p(words), digits, cites], axis=1)
