"""A logistic regression over features of sentences as a system: trained on the training papers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import md5
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from pinakes.database import Database
from pinakes.errors import IndexingError, RunError
from pinakes.evaluators.relevance import average_precisions, find_thresholds
from pinakes.indexers.sentence_scorers.features import FEATURES, SentenceFeatures
from pinakes.indexers.sentence_scorers.logistic import GRID, Choice, Examples, LogisticModel, choose_model
from pinakes.options import option, read_options
from pinakes.progress import Progress
from pinakes.systems.base import Ability, SentenceScores, System, SystemDescription, SystemOptions, Trial
from pinakes.systems.extractors.documents import list_documents
from pinakes.workload.summaries import Example, SummaryQuestions

FOLDS: Final = 5


@dataclass(frozen=True, slots=True)
class LogisticOptions:
    """The options of `sentence_logistic`."""

    c: float | None = option(
        None, "The loss against the penalty; default: chosen on folds of papers.", above=0
    )


class SentenceLogistic(System):
    """A system that scores sentences by a regression over how they match, stand and look.

    It is trained when it answers; its trials are the values of C.
    """

    can: ClassVar[frozenset[Ability]] = frozenset({"extract"})
    own_options: ClassVar[type[LogisticOptions]] = LogisticOptions

    def __init__(self, name: str, options: SystemOptions) -> None:
        self.name = name
        self._own = read_options(LogisticOptions, name, options.parameters, options.fixed)
        self._choices: list[Choice] = []

    def describe(self, database: Database, workload: SummaryQuestions) -> SystemDescription:
        """The features, the values of C and the folds."""
        grid = list(GRID) if self._own.c is None else [self._own.c]
        parameters: dict[str, Any] = {"features": list(FEATURES), "c": grid, "folds": FOLDS}
        return SystemDescription(parameters, device="cpu")

    def score_sentences(
        self, database: Database, questions: SummaryQuestions, progress: Progress
    ) -> Iterator[SentenceScores]:
        """The log-odds of each sentence. Raises `RunError` where there is nothing to learn from."""
        features = SentenceFeatures()
        model = self._train(questions, features)
        for document, examples in list_documents(questions.test):
            sentences = questions.documents[document].sentences
            measured = features.measure(sentences, [example.query for example in examples])
            for example, row in zip(examples, measured, strict=True):
                yield SentenceScores(example.query_id, model.score(row))

    def list_trials(self, database: Database, questions: SummaryQuestions) -> Sequence[Trial]:
        """The values of C; their score is of held-out training papers."""
        return [
            Trial({"c": one.c, "folds": FOLDS}, one.steps, one.fold_score, one.chosen)
            for one in self._choices
        ]

    def _train(self, questions: SummaryQuestions, features: SentenceFeatures) -> LogisticModel:
        listed = [one for one in questions.train if len(one.labels)]
        if not listed:
            raise RunError(f"{questions.benchmark.asked_of} has no training example; {self.name} needs some.")
        examples, groups = _gather(questions, listed, features)

        def measure(scores: NDArray[np.float64]) -> float:
            found = find_thresholds(groups, scores, examples.labels, int(groups[-1]) + 1)
            return float(np.nanmean(average_precisions(found)))

        try:
            model, self._choices = choose_model(
                examples, measure, GRID if self._own.c is None else [self._own.c]
            )
        except IndexingError as error:
            raise RunError(f"{self.name} on {questions.benchmark.asked_of}: {error}.") from error
        return model


def _gather(
    questions: SummaryQuestions, listed: Sequence[Example], features: SentenceFeatures
) -> tuple[Examples, NDArray[np.intp]]:
    """All training sentences, document by document, and the example that each is of."""
    rows, labels, folds, sizes = [], [], [], []
    for document, examples in list_documents(listed):
        told = questions.documents[document]
        measured = features.measure(told.sentences, [example.query for example in examples])
        fold = int(md5(told.source_id.encode(), usedforsecurity=False).hexdigest(), 16) % FOLDS
        for example, row in zip(examples, measured, strict=True):
            rows.append(row)
            labels.append(example.labels)
            folds.append(np.full(len(row), fold))
            sizes.append(len(row))
    groups = np.repeat(np.arange(len(sizes)), sizes)
    return Examples(np.concatenate(rows), np.concatenate(labels), np.concatenate(folds)), groups
