"""Encoders as scorers of sentences, by a name such as `sentence_similarity:minilm`.

A query and each sentence are texts of their own; a text that several papers or examples have is encoded once.
"""

import time
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from pinakes.database import Database
from pinakes.indexers.encoder.precision import device_name
from pinakes.indexers.sentence_scorers.vectors import compare_vectors
from pinakes.options import NoOptions, read_options
from pinakes.progress import Progress
from pinakes.schema import vectors_table
from pinakes.systems.base import (
    Ability,
    IndexSummary,
    SentenceScores,
    System,
    SystemDescription,
    SystemOptions,
)
from pinakes.systems.extractors.documents import list_documents
from pinakes.vectors.encoding import start_session
from pinakes.vectors.sentence_texts import read_document_vectors, read_query_vectors, select_texts
from pinakes.vectors.stored import StoredEncoder
from pinakes.workload.summaries import SummaryQuestions

ASKED = ("test",)


class SentenceSimilarity(System):
    """A system that compares the vectors of a query and of sentences, as the encoder's makers do."""

    can: ClassVar[frozenset[Ability]] = frozenset({"extract"})
    own_options: ClassVar[type[NoOptions]] = NoOptions

    def __init__(self, name: str, options: SystemOptions) -> None:
        read_options(NoOptions, name, options.parameters)
        kind, _, encoder = name.partition(":")
        self._encoder = start_session(encoder, options)
        self.name = f"{kind}:{self._encoder.source.name}"

    def index(self, database: Database, workload: SummaryQuestions, progress: Progress) -> IndexSummary:
        """Encode every query and sentence of the test examples that has no vector yet."""
        started = time.monotonic()
        label = f"sentences of {workload.benchmark.asked_of}"
        added, existing = self._encoder.encode(database, select_texts(workload, ASKED), label, progress)
        return IndexSummary(self.name, added, existing, time.monotonic() - started)

    def describe(self, database: Database, workload: SummaryQuestions) -> SystemDescription:
        """The encoder and the distance."""
        stored = self._require(database, workload)
        return SystemDescription(
            {"encoder": stored.name, "distance": self._encoder.distance},
            device=device_name(self._encoder.device),
            encoder_id=stored.encoder_id,
            encoder_revision=stored.revision,
            precision=self._encoder.precision,
        )

    def score_sentences(
        self, database: Database, questions: SummaryQuestions, progress: Progress
    ) -> Iterator[SentenceScores]:
        """Document by document; all sentences score 0 for an empty query, an empty one as the least does."""
        stored = self._require(database, questions)
        table = vectors_table(stored.name, stored.dimensions)
        asked = dict(list_documents(questions.test))
        published = questions.benchmark.mode == "published"
        with database.read() as session:
            queries = read_query_vectors(session, questions, table, ASKED)
            read = read_document_vectors(session, questions, table, list(asked), stored.dimensions)
            for document, vectors in read:
                sentences = questions.documents[document].sentences
                has_text = np.array([text != "" for text in sentences], dtype=bool)
                for example in asked[document]:
                    scores = np.zeros(len(sentences))
                    if example.query_id in queries and has_text.any():
                        query, told = queries[example.query_id], vectors[has_text]
                        found = compare_vectors(query, told, self._encoder.distance, published=published)
                        scores[:] = found.min()
                        scores[has_text] = found
                    yield SentenceScores(example.query_id, scores)

    def _require(self, database: Database, questions: SummaryQuestions) -> StoredEncoder:
        requested = f"--system {self.name.partition(':')[0]}:{self._encoder.requested_as}"
        precision = f"--precision {self._encoder.precision}"
        command = f"`pinakes index {questions.scope.requested_as} {requested} {precision}`"
        return self._encoder.require(database, select_texts(questions, ASKED), command)
