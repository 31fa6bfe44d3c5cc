"""What scores the sentences of one document, by name: TF-IDF, BM25, or an encoder's vectors; no database."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import InputError
from pinakes.indexers.exact.scores import Vectors
from pinakes.indexers.names import Distance
from pinakes.indexers.sentence_scorers.bm25 import Bm25Sentences
from pinakes.indexers.sentence_scorers.tfidf import ANALYSES, TfidfSentences
from pinakes.indexers.sentence_scorers.vectors import compare_vectors
from pinakes.options import NoOptions, option, read_options
from pinakes.workload.readers import SEARCH, FormatChoice, Reader, find_readers

Scores = NDArray[np.float64]

OF_SENTENCES: Final = "sentence_"
"""what begins the names that the scorers have as systems of a benchmark"""
SIMILARITY: Final = "similarity:"


@dataclass(frozen=True, slots=True)
class ScorerOptions:
    """What a user may say about a scorer.

    Attributes:
        precision, device, distance: of an encoder, as of `EncoderSession`.
        parameters: its own options, name to value, as typed.
    """

    precision: str = "auto"
    device: str | None = None
    distance: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TfidfOptions:
    """The options of TF-IDF over sentences."""

    analysis: Literal["words", "chars"] = option(
        "words", "What is counted: words, or trigrams of characters.", choices=ANALYSES
    )


@dataclass(frozen=True, slots=True)
class Scorer:
    """A way to score sentences.

    Attributes:
        name: what it is called, with what it compares.
        score: the scores (n,) of a query and n sentences; higher is more relevant.
        by_terms: whether a score of 0 says that sentence and query share no term.
    """

    name: str
    score: Callable[[str, Sequence[str]], Scores]
    by_terms: bool


def find_scorer(system: str, options: ScorerOptions) -> Scorer:
    """The scorer of a name: tfidf, bm25, or an encoder by preset, folder or hub id.

    `sentence_tfidf`, `sentence_bm25` and `sentence_similarity:ENCODER` are the same.

    Raises:
        InputError: it is trained on a corpus, or an option is not one that it has.
        UnknownNameError: there is no such encoder or option.
    """
    name = system.removeprefix(OF_SENTENCES)
    if name == "tfidf":
        terms = read_options(TfidfOptions, system, options.parameters).analysis
        return Scorer(f"tfidf of {terms}", _score_by(TfidfSentences(terms)), True)
    read_options(NoOptions, system, options.parameters)
    if name == "bm25":
        return Scorer("bm25", _score_by(Bm25Sentences("english")), True)
    encoder = name.removeprefix(SIMILARITY)
    if system.startswith(OF_SENTENCES) and encoder == name:
        raise InputError(
            f"{system} is trained on a benchmark, and scores no single document; expected tfidf, bm25 or an"
            " encoder."
        )
    return _find_encoders(encoder, options)


def _score_by(terms: TfidfSentences | Bm25Sentences) -> Callable[[str, Sequence[str]], Scores]:
    def score(query: str, texts: Sequence[str]) -> Scores:
        (scores,) = terms.score(texts, [query])
        return np.asarray(scores)

    return score


def _find_encoders(name: str, options: ScorerOptions) -> Scorer:
    """An encoder, or the mean of several, as in `mean:specter,scincl`."""
    from pinakes.vectors.encoding import EncoderSession  # imported late: torch
    from pinakes.vectors.reading import mean_vectors

    readers = find_readers(name, FormatChoice(SEARCH))
    sessions = {
        reader.encoder: EncoderSession(
            reader.encoder, precision=options.precision, device=options.device, distance=options.distance
        )
        for reader in (*readers.queries, *readers.papers)
    }
    own: set[Distance] = {session.distance for session in sessions.values()}
    distance = own.pop() if len(own) == 1 else "cosine"

    def embed(reading: Sequence[Reader], texts: Sequence[str]) -> Vectors:
        return mean_vectors(
            [sessions[one.encoder].embed_texts([one.prefix + text for text in texts]) for one in reading]
        )

    def score(query: str, texts: Sequence[str]) -> Scores:
        return compare_vectors(embed(readers.queries, [query])[0], embed(readers.papers, texts), distance)

    spelt = readers.spell({one: session.source.name for one, session in sessions.items()})
    return Scorer(f"{distance} of {spelt}", score, False)
