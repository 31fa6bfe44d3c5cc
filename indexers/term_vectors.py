"""TF-IDF of the most frequent terms as vectors: a corpus in a folder, texts in, vectors out.

What a linear model over words knows, beside encoders: terms and weights are those of `tfidf` (stems,
1 + ln(tf), Euclidean length 1), of the `dimensions` terms that most texts of a corpus hold, ties by the term.
Only what was counted is kept, as words and numbers.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from pinakes.errors import IndexingError
from pinakes.indexers.analysis import english_analysis, well_formed
from pinakes.indexers.lexical import BuiltIndex
from pinakes.indexers.side_folder import read_parameters, whole_folder, write_parameters
from pinakes.indexers.term_statistics import count_terms
from pinakes.indexers.tfidf import make_vectorizer

KIND: Final = "term_vectors"
DIMENSIONS: Final = 2_048
NUMBERS_FILE: Final = "numbers.safetensors"
VOCABULARY_FILE: Final = "vocabulary.json"


def describe_counting(dimensions: int = DIMENSIONS) -> dict[str, Any]:
    """The settings that decide the vectors, apart from the texts; fit for JSON."""
    return {
        "model": "tfidf_of_frequent_terms",
        "dimensions": dimensions,
        "sublinear_tf": True,
        "analysis": english_analysis().parameters(),
    }


def build_term_vectors(folder: Path, texts: Sequence[str], *, dimensions: int = DIMENSIONS) -> BuiltIndex:
    """The most frequent terms of texts and their idf, in `folder`, whole or not at all.

    Fewer than `dimensions` where the texts have fewer. Raises IndexingError where they have no term.
    """
    counted = count_terms(texts, english_analysis(), threads=os.cpu_count() or 1)
    terms = sorted(counted.places)
    if not terms:
        raise IndexingError(
            f"of {len(texts):,} papers none has a word to count; check that their texts are loaded"
        )
    frequencies = counted.look_up(terms)
    kept = np.sort(np.argsort(-frequencies, kind="stable")[:dimensions])
    idf = np.log((1 + counted.row_count) / (1 + frequencies[kept].astype(np.float64))) + 1
    with whole_folder(folder) as building:
        save_file({"idf": idf.astype(np.float32)}, building / NUMBERS_FILE)
        words = json.dumps([terms[place] for place in kept], ensure_ascii=False)
        (building / VOCABULARY_FILE).write_text(words, encoding="utf-8")
        write_parameters(building, {"kind": KIND, "rows": len(texts)})
    return BuiltIndex(len(texts), {**describe_counting(dimensions), "terms": len(terms)})


class TermVectors:
    """The terms that were counted, in memory."""

    def __init__(self, terms: list[str], idf: NDArray[np.float32]) -> None:
        self._vectorizer = make_vectorizer(english_analysis(), True, terms)
        self._vectorizer.idf_ = idf

    @classmethod
    def open(cls, folder: Path) -> "TermVectors":
        """What `build_term_vectors` made in `folder`; IndexingError if there is none that is whole."""
        read_parameters(folder, KIND)
        try:
            idf = load_file(folder / NUMBERS_FILE)["idf"]
            return cls(json.loads((folder / VOCABULARY_FILE).read_text(encoding="utf-8")), idf)
        except (OSError, ValueError, KeyError, SafetensorError) as problem:
            raise IndexingError(f"{folder} cannot be read ({problem}); build the index again") from problem

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return len(self._vectorizer.vocabulary)

    def weigh(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """The vectors (n, dimensions) of texts, and for each whether it has one of the terms (n,)."""
        matrix = self._vectorizer.transform(map(well_formed, texts))
        vectors: NDArray[np.float32] = matrix.toarray()
        return vectors, np.diff(matrix.indptr) > 0
