"""TF-IDF and BM25 over the sentences of a paper as systems."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Final, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from pinakes.database import Database
from pinakes.indexers.analysis import ANALYSES as TOKENISATIONS
from pinakes.indexers.sentence_scorers.bm25 import K1, B, Bm25Sentences
from pinakes.indexers.sentence_scorers.tfidf import ANALYSES, Analysis, TfidfSentences
from pinakes.options import option, read_options
from pinakes.progress import Progress
from pinakes.systems.base import Ability, SentenceScores, System, SystemDescription, SystemOptions
from pinakes.systems.extractors.documents import list_documents
from pinakes.workload.summaries import SummaryQuestions

FITS: Final = ("paper", "training")
FITTED_ON: Final = "Whose statistics: the sentences of each paper, or of all training papers."


class Scorer(Protocol):
    """Scores of a document's sentences."""

    def score(self, sentences: Sequence[str], queries: Sequence[str]) -> NDArray[np.float64]:
        """The scores (queries, sentences)."""
        ...


@dataclass(frozen=True, slots=True)
class SentenceTfidfOptions:
    """The options of `sentence_tfidf`."""

    analysis: str = option("words", "Words, or trigrams of characters.", choices=ANALYSES)
    fitted_on: str = option("paper", FITTED_ON, choices=FITS)


@dataclass(frozen=True, slots=True)
class SentenceBm25Options:
    """The options of `sentence_bm25`."""

    analysis: str = option("english", "How a text becomes terms.", choices=tuple(TOKENISATIONS))
    fitted_on: str = option("paper", FITTED_ON, choices=FITS)
    k1: float = option(K1, "How soon a repeated term counts no more.", minimum=0)
    b: float = option(B, "How much a long sentence counts less.", minimum=0, maximum=1)


class LexicalExtractor(System):
    """A system that scores sentences by their terms; nothing is made before."""

    can: ClassVar[frozenset[Ability]] = frozenset({"extract"})

    def __init__(self, name: str, options: SystemOptions) -> None:
        self.name = name
        self._own: Any = read_options(self.own_options, name, options.parameters, options.fixed)

    def describe(self, database: Database, workload: SummaryQuestions) -> SystemDescription:
        """The options."""
        return SystemDescription(asdict(self._own), device="cpu")

    def score_sentences(
        self, database: Database, questions: SummaryQuestions, progress: Progress
    ) -> Iterator[SentenceScores]:
        """Document by document; a text without a term scores 0."""
        fits = self._own.fitted_on == FITS[1]
        scorer = self._make(_list_training(questions) if fits else None)
        for document, examples in list_documents(questions.test):
            sentences = questions.documents[document].sentences
            scores = scorer.score(sentences, [example.query for example in examples])
            for example, row in zip(examples, scores, strict=True):
                yield SentenceScores(example.query_id, row)

    @abstractmethod
    def _make(self, training: Iterator[str] | None) -> Scorer:
        """The scorer, fitted on these sentences; None: on those of each document."""


class SentenceTfidf(LexicalExtractor):
    """Cosine of TF-IDF vectors."""

    own_options: ClassVar[type[SentenceTfidfOptions]] = SentenceTfidfOptions

    def _make(self, training: Iterator[str] | None) -> Scorer:
        return TfidfSentences(cast(Analysis, self._own.analysis), training)


class SentenceBm25(LexicalExtractor):
    """BM25."""

    own_options: ClassVar[type[SentenceBm25Options]] = SentenceBm25Options

    def _make(self, training: Iterator[str] | None) -> Scorer:
        return Bm25Sentences(self._own.analysis, self._own.k1, self._own.b, training)


def _list_training(questions: SummaryQuestions) -> Iterator[str]:
    """The sentences of the training examples' documents, each document once."""
    for document in sorted({example.document for example in questions.train}):
        yield from questions.documents[document].sentences
