"""Latent semantic analysis: a corpus in a folder, texts in, vectors out.

scikit-learn's `TfidfVectorizer` with all its defaults and `TruncatedSVD`, fitted on every text of a corpus;
what they learnt is kept as numbers and words, without pickle. The texts are fitted in the order of their own
bytes, so that the order of a database decides no digit.
"""

import json
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from pinakes.errors import IndexingError
from pinakes.indexers.lexical import BuiltIndex
from pinakes.indexers.side_folder import read_parameters, whole_folder, write_parameters

KIND: Final = "lsa"
DIMENSIONS: Final = 128
SEED: Final = 42
NUMBERS_FILE: Final = "numbers.safetensors"
VOCABULARY_FILE: Final = "vocabulary.json"


def describe_training(dimensions: int = DIMENSIONS) -> dict[str, Any]:
    """The settings that decide the vectors, apart from the texts; fit for JSON."""
    return {
        "model": "tfidf_svd",
        "dimensions": dimensions,
        "seed": SEED,
        "library": f"scikit-learn {version('scikit-learn')}",
    }


def build_lsa(folder: Path, texts: Sequence[str], *, dimensions: int = DIMENSIONS) -> BuiltIndex:
    """The vocabulary, its idf and the right singular vectors of the texts, in `folder`, whole or not at all.

    Raises IndexingError where the texts have fewer words, or are fewer, than a vector has numbers.
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    ordered = sorted(text for text in texts if text)
    try:
        vectorizer = TfidfVectorizer()
        matrix = vectorizer.fit_transform(ordered)
    except ValueError as error:  # no text, or none with a word
        raise IndexingError(
            f"of {len(texts):,} papers {len(ordered):,} have a text, and none has a word to learn from"
        ) from error
    if min(matrix.shape) <= dimensions:
        raise IndexingError(
            f"{matrix.shape[0]} texts of {matrix.shape[1]} words make no vectors of {dimensions} numbers; "
            "expected more of both; ask for fewer, with --option dimensions=…"
        )
    svd = TruncatedSVD(dimensions, random_state=SEED)
    svd.fit(matrix)
    with whole_folder(folder) as building:
        words = vectorizer.get_feature_names_out().tolist()
        numbers = {"components": svd.components_, "idf": vectorizer.idf_}
        save_file({name: np.ascontiguousarray(one) for name, one in numbers.items()}, building / NUMBERS_FILE)
        (building / VOCABULARY_FILE).write_text(json.dumps(words, ensure_ascii=False), encoding="utf-8")
        write_parameters(building, {"kind": KIND, "rows": len(texts)})
    return BuiltIndex(len(texts), {**describe_training(dimensions), "words": len(words)})


class LatentSemantics:
    """What was learnt of a corpus, in memory."""

    def __init__(
        self, words: Sequence[str], idf: NDArray[np.float64], components: NDArray[np.float64]
    ) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        self._vectorizer = TfidfVectorizer(vocabulary={word: row for row, word in enumerate(words)})
        self._vectorizer.idf_ = idf
        self._components = components

    @classmethod
    def open(cls, folder: Path) -> "LatentSemantics":
        """What `build_lsa` made in `folder`; IndexingError if there is none that is whole."""
        read_parameters(folder, KIND)
        try:
            numbers = load_file(folder / NUMBERS_FILE)
            words = json.loads((folder / VOCABULARY_FILE).read_text(encoding="utf-8"))
            return cls(words, numbers["idf"], numbers["components"])
        except (OSError, ValueError, KeyError, SafetensorError) as problem:
            raise IndexingError(f"{folder} cannot be read ({problem}); build the index again") from problem

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return int(self._components.shape[0])

    def reduce(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """The vectors (n, dimensions) of texts, and for each whether it has a word of the corpus (n,)."""
        matrix = self._vectorizer.transform(texts)
        known = np.diff(matrix.indptr) > 0
        vectors: NDArray[np.float32] = (matrix @ self._components.T).astype(np.float32)
        return vectors, known
