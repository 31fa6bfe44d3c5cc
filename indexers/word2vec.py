"""Averages of word2vec vectors: words in a folder, texts in, one vector a text out, plain or TF-IDF-weighted.

The baselines abs_cbow200 and abs_tfidfcbow200 of CSFCube (appendix C): CBOW, 200 dimensions, trained on the
abstracts of a corpus; a text is the mean of its words' vectors, or their mean weighted by TF-IDF. The paper
does not say more; the rest is gensim's defaults, lower-cased words without stemming or stop words, and idf
ln((1 + N) / (1 + df)) + 1.

One worker trains in one order with one seed, so that the same texts give the same vectors on one machine;
between processors the last bits may differ.
"""

import json
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from pinakes.errors import IndexingError
from pinakes.indexers.analysis import Analysis, english_analysis, well_formed
from pinakes.indexers.lexical import BuiltIndex, Progress
from pinakes.indexers.side_folder import read_parameters, whole_folder, write_parameters

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Vectors = NDArray[np.float32]

KIND: Final = "word2vec"
VECTORS_FILE: Final = "vectors.safetensors"
VOCABULARY_FILE: Final = "vocabulary.json"
TEXTS_FILE: Final = "texts.tmp"

DIMENSIONS: Final = 200
WINDOW: Final = 5
NEGATIVE: Final = 5
MIN_COUNT: Final = 5
SEED: Final = 1
FEWEST_PASSES: Final = 5
MOST_PASSES: Final = 50
WORDS_TO_READ: Final = 20_000_000
LONGEST_LINE: Final = 10_000  # gensim reads no more words of a line
PROGRESS_EVERY: Final = 10_000


def build_word2vec(
    folder: Path,
    texts: Iterable[str],
    *,
    dimensions: int = DIMENSIONS,
    min_count: int = MIN_COUNT,
    passes: int | None = None,
    progress: Progress | None = None,
) -> BuiltIndex:
    """The words of `texts`, each with a vector, in `folder`, whole or not there at all; an old one goes.

    A word that occurs fewer than `min_count` times has no vector. `passes` over the texts; None: as many
    as read about 20 million words, at least 5 and at most 50, so that a small corpus is read more often.
    Raises IndexingError where no word is frequent enough.
    """
    analysis = english_analysis("none", "none")
    with whole_folder(folder) as building:
        text_file = building / TEXTS_FILE
        rows, frequencies = _write_texts(text_file, texts, analysis, progress)
        chosen = passes or choose_passes(sum(count for count, _ in frequencies.values()))
        words, vectors = _train(text_file, frequencies, dimensions, min_count, chosen)
        text_file.unlink()
        document_frequencies = np.array([frequencies[word][1] for word in words], dtype=np.float64)
        idf = (np.log((1 + rows) / (1 + document_frequencies)) + 1).astype(np.float32)
        save_file({"vectors": vectors, "idf": idf}, building / VECTORS_FILE)
        (building / VOCABULARY_FILE).write_text(json.dumps(words, ensure_ascii=False), encoding="utf-8")
        write_parameters(building, {"kind": KIND, "rows": rows, "analysis": analysis.to_json()})
    parameters = describe_training(dimensions, min_count)
    return BuiltIndex(rows, {**parameters, "passes": chosen, "words": len(words)})


def describe_training(dimensions: int = DIMENSIONS, min_count: int = MIN_COUNT) -> dict[str, Any]:
    """The settings that decide the vectors, apart from the texts; fit for JSON."""
    return {
        "model": "cbow",
        "dimensions": dimensions,
        "window": WINDOW,
        "negative": NEGATIVE,
        "min_count": min_count,
        "seed": SEED,
        "words_to_read": WORDS_TO_READ,
        "analysis": english_analysis("none", "none").parameters(),
        "library": f"gensim {version('gensim')}",
    }


def choose_passes(words: int) -> int:
    """How often a corpus of so many words is read.

    >>> choose_passes(700_000), choose_passes(10_000), choose_passes(300_000_000)
    (29, 50, 5)
    """
    return min(MOST_PASSES, max(FEWEST_PASSES, -(-WORDS_TO_READ // max(1, words))))


class Word2Vec:
    """Word vectors that were trained, in memory."""

    def __init__(self, words: Sequence[str], vectors: Vectors, idf: Vectors, analysis: Analysis) -> None:
        self._row = {word: row for row, word in enumerate(words)}
        self._vectors = vectors.astype(np.float64)
        self._idf = idf.astype(np.float64)
        self._analyzer = analysis.build()

    @classmethod
    def open(cls, folder: Path) -> "Word2Vec":
        """What `build_word2vec` made in `folder`; IndexingError if there is none that is whole."""
        saved = read_parameters(folder, KIND)
        try:
            tensors = load_file(folder / VECTORS_FILE)
            words = json.loads((folder / VOCABULARY_FILE).read_text(encoding="utf-8"))
            return cls(words, tensors["vectors"], tensors["idf"], Analysis.from_json(saved["analysis"]))
        except (OSError, ValueError, KeyError, SafetensorError) as problem:
            raise IndexingError(f"{folder} cannot be read ({problem}); build the index again") from problem

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return int(self._vectors.shape[1])

    def average(self, texts: Sequence[str], *, tfidf: bool) -> tuple[Vectors, NDArray[np.bool_]]:
        """The vectors (n, dimensions) of texts, and for each whether it has a word that has a vector (n,).

        Plain: the mean over the words, as often as they occur. With `tfidf` each word's weight is its count
        times its idf, and the sum is divided by the sum of weights. The vector of a text without such a
        word is zeros, and means nothing.
        """
        weights = self._weights(texts, tfidf)
        totals = np.asarray(weights.sum(axis=1)).ravel()
        sums = weights @ self._vectors
        known = totals > 0
        means = sums / np.where(known, totals, 1.0)[:, None]
        return means.astype(np.float32), known

    def _weights(self, texts: Sequence[str], tfidf: bool) -> "csr_array":
        from scipy.sparse import csr_array  # late: in the extra `compute`

        starts, columns, values = [0], array("q"), array("d")
        for text in texts:
            counts = Counter(
                self._row[word] for word in self._analyzer.analyze(well_formed(text)) if word in self._row
            )
            for row in sorted(counts):  # one order of summation, whatever the text's
                columns.append(row)
                values.append(counts[row] * (self._idf[row] if tfidf else 1.0))
            starts.append(len(columns))
        shape = (len(texts), len(self._vectors))
        return csr_array((np.array(values), np.array(columns, dtype=np.int64), starts), shape=shape)


def _write_texts(
    path: Path, texts: Iterable[str], analysis: Analysis, progress: Progress | None
) -> tuple[int, dict[str, tuple[int, int]]]:
    """One line of words for each text; how many lines, and of each word its count and document frequency."""
    analyzer = analysis.build()
    counts: Counter[str] = Counter()
    documents: Counter[str] = Counter()
    rows = 0
    with path.open("w", encoding="utf-8") as file:
        for text in texts:
            words = analyzer.analyze(well_formed(text))
            rows += 1
            counts.update(words)
            documents.update(set(words))
            for start in range(0, len(words), LONGEST_LINE):
                file.write(" ".join(words[start : start + LONGEST_LINE]) + "\n")
            if progress and rows % PROGRESS_EVERY == 0:
                progress(rows)
    if progress:
        progress(rows)
    return rows, {word: (count, documents[word]) for word, count in counts.items()}


def _train(
    path: Path, frequencies: dict[str, tuple[int, int]], dimensions: int, min_count: int, passes: int
) -> tuple[list[str], Vectors]:
    frequent = {word: count for word, (count, _) in frequencies.items() if count >= min_count}
    if not frequent:
        raise IndexingError(
            f"no word of the texts occurs {min_count} times, so that none can have a vector; load a corpus "
            "with more texts, or lower the least count"
        )
    from gensim.models import Word2Vec as Trainer

    # Sorted, so that neither the order of the texts nor of a dictionary decides a word's number.
    ordered = dict(sorted(frequent.items(), key=lambda item: (-item[1], item[0])))
    trainer = Trainer(
        vector_size=dimensions,
        window=WINDOW,
        negative=NEGATIVE,
        sg=0,
        min_count=1,
        seed=SEED,
        workers=1,
        epochs=passes,
        hashfxn=_hash_word,
    )
    with path.open("rb") as file:
        lines = sum(1 for _ in file)
    trainer.build_vocab_from_freq(ordered, corpus_count=lines)
    trainer.train(
        corpus_file=str(path),
        total_words=sum(count for count, _ in frequencies.values()),
        epochs=passes,
    )
    words = list(trainer.wv.index_to_key)
    return words, np.ascontiguousarray(trainer.wv.vectors, dtype=np.float32)


def _hash_word(word: str) -> int:
    # Python's own hash of a string changes from process to process.
    return zlib.crc32(word.encode("utf-8"))
