"""How often a collection's documents hold each term: what a term's weight is made of, in TF-IDF and BM25.

An index counts its own documents; these counts are for one whose weights are another, larger collection's.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.analysis import Analysis
from pinakes.indexers.lexical import Progress
from pinakes.indexers.sparse_bm25.ahead import map_ahead
from pinakes.indexers.sparse_bm25.analyse import GrowingVocabulary, analyse_documents, list_blocks
from pinakes.indexers.sparse_bm25.inversion import Frequencies, invert_block

TEXTS_AT_ONCE: Final = 2_048


@dataclass(frozen=True, slots=True, eq=False)
class TermStatistics:
    """The counts of a collection.

    Attributes:
        row_count: documents, those without a term included.
        total_length: terms of all of them, each as often as it occurs.
        places: term -> its place in `frequencies`.
        frequencies: documents that hold the term (v,).
    """

    row_count: int
    total_length: int
    places: Mapping[str, int]
    frequencies: NDArray[np.int32]

    def look_up(self, terms: Sequence[str]) -> NDArray[np.int32]:
        """How many documents hold each of the terms (m,); 0 for one that the collection lacks."""
        found = np.fromiter((self.places.get(term, -1) for term in terms), np.int64, len(terms))
        return np.where(found >= 0, np.append(self.frequencies, np.int32(0))[found], 0).astype(np.int32)


def count_terms(
    texts: Iterable[str | None], analysis: Analysis, progress: Progress | None = None, threads: int = 1
) -> TermStatistics:
    """The counts of some texts; their order changes none of them.

    >>> from pinakes.indexers.analysis import named_analysis
    >>> found = count_terms(["the graph, the paper", "a graph", ""], named_analysis("words"))
    >>> found.row_count, found.total_length, found.look_up(["graph", "the", "absent"]).tolist()
    (3, 6, [2, 1, 0])
    """
    vocabulary = GrowingVocabulary()
    frequencies = Frequencies()
    row_count, total_length = 0, 0
    documents = list_blocks(enumerate(texts))
    blocks = analyse_documents(documents, analysis, vocabulary, TEXTS_AT_ONCE, progress, threads)
    for block in map_ahead(invert_block, blocks, threads):
        row_count += len(block.arrays["lengths"])
        total_length += int(block.arrays["lengths"].sum())
        frequencies.add(block)
    counts = frequencies.of_terms(len(vocabulary))
    return TermStatistics(row_count, total_length, dict(vocabulary), counts)
