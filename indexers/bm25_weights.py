"""The weights that BM25 over tantivy gives the terms of a text, field by field, without an index.

tantivy scores documents that it holds alone, and altered texts are none of them. Its scores are float32,
term by term; these are float64, and agree with them but for the last bits.
"""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.analysis import Analysis, well_formed
from pinakes.indexers.self_retrieval.space import SparseRows
from pinakes.indexers.sparse_bm25.weights import Collection, lucene_idf
from pinakes.indexers.term_statistics import TermStatistics
from pinakes.indexers.term_weights import count_terms, join_fields, weigh_documents, weigh_query

K1: Final = 1.2
B: Final = 0.75


def open_weighing(
    analysis: Analysis, fields: Mapping[str, tuple[float, TermStatistics]]
) -> Callable[[list[str], list[str]], tuple[SparseRows, SparseRows]]:
    """What weighs texts with their titles: each as a query and as a document.

    `fields` are those of a document, `text` and perhaps `title`, each with its weight and its statistics. A
    query is its text in every field.
    """
    analyser = analysis.build()
    places = [_Field(weight, statistics) for weight, statistics in fields.values()]
    widths = [len(field.idf) for field in places]

    def weigh(texts: list[str], titles: list[str]) -> tuple[SparseRows, SparseRows]:
        words = {"text": _analyse(texts), "title": _analyse(titles) if "title" in fields else []}
        queries = [field.weigh_query(words["text"]) for field in places]
        documents = [field.weigh_documents(words[name]) for name, field in zip(fields, places, strict=True)]
        return join_fields(queries, widths), join_fields(documents, widths)

    def _analyse(texts: list[str]) -> list[list[str]]:
        return [analyser.analyze(well_formed(text)) for text in texts]

    return weigh


class _Field:
    """One field of the documents, with its terms numbered by their spelling."""

    def __init__(self, weight: float, statistics: TermStatistics) -> None:
        terms = sorted(statistics.places)
        average = statistics.total_length / statistics.row_count if statistics.total_length else 1.0
        frequencies = statistics.look_up(terms)
        self.idf = lucene_idf(frequencies, Collection(statistics.row_count, average, frequencies))
        self._weight, self._average = weight, average
        self._numbers = {term: number for number, term in enumerate(terms)}

    def weigh_query(self, words: list[list[str]]) -> SparseRows:
        return weigh_query(count_terms(self._read(words)), self._weight)

    def weigh_documents(self, words: list[list[str]]) -> SparseRows:
        counted = count_terms(self._read(words))
        return weigh_documents(counted, self.idf, self._average, K1, B, round_lengths(counted.lengths))

    def _read(self, words: list[list[str]]) -> list[list[int]]:
        return [[self._numbers.get(word, -1) for word in text] for text in words]


def round_lengths(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Lengths as one byte keeps them (Lucene's SmallFloat): exact to 40, then rounded down.

    >>> round_lengths(np.array([0, 40, 41, 100, 1000])).tolist()
    [0, 40, 40, 96, 984]
    """
    kept = np.array([_decode_byte(byte) for byte in range(256)], dtype=np.int64)
    rounded: NDArray[np.int64] = kept[np.searchsorted(kept, lengths, side="right") - 1]
    return rounded


def _decode_byte(byte: int) -> int:
    if byte < 24:
        return byte
    bits, shift = (byte - 24) & 7, ((byte - 24) >> 3) - 1
    return 24 + (bits if shift < 0 else (bits | 8) << shift)
