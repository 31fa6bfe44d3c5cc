"""BM25 of a document's sentences for a query, with Lucene's formula, over the document or a training set.

The score is that of `indexers.bm25`, with exact lengths: the sum over the query's terms (a repeated term
counts each time) of ln(1 + (N - df + 0.5) / (df + 0.5)) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * dl /
avgdl)), where N, df and avgdl are of the sentences that it is fitted on.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.analysis import named_analysis

K1: Final = 1.2
B: Final = 0.75


@dataclass(frozen=True, slots=True)
class Statistics:
    """Of a collection of sentences: how many hold each term, how many there are, their terms on average."""

    frequencies: Counter[str]
    sentences: int
    mean_length: float


class Bm25Sentences:
    """Scores sentences by BM25; `training`: the sentences that are counted, None: those of a document."""

    def __init__(
        self, analysis: str, k1: float = K1, b: float = B, training: Iterable[str] | None = None
    ) -> None:
        analyser = named_analysis(analysis).build()
        self._analyse = lru_cache(maxsize=65_536)(lambda text: tuple(analyser.analyze(text)))
        self._k1, self._b = k1, b
        self._statistics = None if training is None else _count(map(self._analyse, training))

    def score(self, sentences: Sequence[str], queries: Sequence[str]) -> NDArray[np.float64]:
        """The score of each sentence for each query (queries, sentences); 0 without a term in common.

        >>> Bm25Sentences("words").score(["neural nets", "the weather"], ["neural ranking"]).round(4).tolist()
        [[0.6931, 0.0]]
        """
        terms = [self._analyse(text) for text in sentences]
        known = self._statistics or _count(terms)
        postings: dict[str, list[tuple[int, int]]] = {}
        for place, listed in enumerate(terms):
            for term, count in Counter(listed).items():
                postings.setdefault(term, []).append((place, count))
        lengths = np.array([len(listed) for listed in terms], dtype=np.float64)
        norms = self._k1 * (1 - self._b + self._b * lengths / (known.mean_length or 1.0))
        found = np.zeros((len(queries), len(sentences)))
        for row, query in zip(found, queries, strict=True):
            for term, repeats in sorted(Counter(self._analyse(query)).items()):
                if term in postings:
                    places, counts = np.array(postings[term]).T
                    frequency = known.frequencies[term]
                    idf = np.log1p((known.sentences - frequency + 0.5) / (frequency + 0.5))
                    row[places] += repeats * idf * counts * (self._k1 + 1) / (counts + norms[places])
        return found


def _count(listed: Iterable[Sequence[str]]) -> Statistics:
    frequencies: Counter[str] = Counter()
    sentences, total = 0, 0
    for terms in listed:
        frequencies.update(set(terms))
        sentences, total = sentences + 1, total + len(terms)
    return Statistics(frequencies, sentences, total / sentences if sentences else 0.0)
