"""The vectors that a trained scorer reads: of an encoder, stored with all others, or TF-IDF of its own."""

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from pinakes.database import Database
from pinakes.indexers.lsa import LatentSemantics, build_lsa, describe_training
from pinakes.indexers.sentence_models.settings import Floats, SentenceExample
from pinakes.indexers.side_folder import is_whole
from pinakes.progress import Progress
from pinakes.schema import vectors_table
from pinakes.vectors.encoding import EncoderSession
from pinakes.vectors.sentence_texts import read_document_vectors, read_query_vectors, select_texts
from pinakes.workload.summaries import Example, SummaryQuestions

TFIDF: Final = "tfidf"
LSA_FOLDER: Final = "tfidf"


@dataclass(frozen=True, slots=True, eq=False)
class ReadVectors:
    """The vectors of a question's examples; zeros of a text that has nothing to read.

    Attributes:
        queries: query id -> (d,).
        documents: place in `SummaryQuestions.documents` -> (n, d); examples of a document share it.
    """

    dimensions: int
    queries: Mapping[str, Floats]
    documents: Mapping[int, Floats]

    def list_examples(self, examples: Sequence[Example]) -> list[SentenceExample]:
        """The examples as vectors, in their order."""
        nothing = np.zeros(self.dimensions, dtype=np.float32)
        return [
            SentenceExample(self.queries.get(one.query_id, nothing), self.documents[one.document], one.labels)
            for one in examples
        ]


class Features(Protocol):
    """Where vectors come from.

    Attributes:
        name: what stands behind the colon of the system's name.
    """

    name: str

    def prepare(self, database: Database, questions: SummaryQuestions, progress: Progress) -> tuple[int, int]:
        """Make what is missing: how many texts now, how many before."""
        ...

    def describe(self, database: Database, questions: SummaryQuestions, command: str) -> dict[str, Any]:
        """What decides the vectors, apart from the texts. Raises `RunError` with the command if they lack."""
        ...

    def train(self, questions: SummaryQuestions, folder: Path) -> None:
        """Learn from the training set what the vectors need, into a folder; what is there is left."""
        ...

    def read(
        self, database: Database, questions: SummaryQuestions, parts: Sequence[str], folder: Path
    ) -> ReadVectors:
        """The vectors of the queries and the sentences of the parts."""
        ...


class EncoderFeatures:
    """The stored vectors of an encoder: every text is encoded once, whichever systems read it."""

    def __init__(self, encoder: EncoderSession) -> None:
        self.encoder = encoder
        self.name = encoder.source.name

    def prepare(self, database: Database, questions: SummaryQuestions, progress: Progress) -> tuple[int, int]:
        """Encode queries and sentences of all parts."""
        label = f"queries and sentences of {questions.benchmark.asked_of}"
        return self.encoder.encode(database, select_texts(questions), label, progress)

    def describe(self, database: Database, questions: SummaryQuestions, command: str) -> dict[str, Any]:
        """The encoder and its revision."""
        stored = self.encoder.require(database, select_texts(questions), command)
        return {"encoder": stored.name, "encoder_id": stored.encoder_id, "encoder_revision": stored.revision}

    def train(self, questions: SummaryQuestions, folder: Path) -> None:
        """Nothing: an encoder is trained elsewhere."""

    def read(
        self, database: Database, questions: SummaryQuestions, parts: Sequence[str], folder: Path
    ) -> ReadVectors:
        """From the encoder's table."""
        numbers = _list_documents(questions, parts)
        with database.read() as session:
            stored = self.encoder.find(database, f"pinakes index {questions.scope.requested_as}")
            table, width = vectors_table(stored.name, stored.dimensions), stored.dimensions
            queries = read_query_vectors(session, questions, table, parts)
            documents = dict(read_document_vectors(session, questions, table, numbers, width))
        return ReadVectors(width, queries, documents)


class TfidfFeatures:
    """TF-IDF of words, fitted on the queries and sentences of the training set, reduced to a few dimensions.

    The published vectors are whole, and scikit-learn's MLP reads them of the sentence alone, never of the
    query. Reduced, a network of any kind can read query and sentence. Words that the training set lacks are
    not read.
    """

    name = TFIDF

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions

    def prepare(self, database: Database, questions: SummaryQuestions, progress: Progress) -> tuple[int, int]:
        """Nothing."""
        return 0, 0

    def describe(self, database: Database, questions: SummaryQuestions, command: str) -> dict[str, Any]:
        """How the vectors are reduced."""
        return {"vectors": describe_training(self._dimensions), "fitted_on": "training"}

    def train(self, questions: SummaryQuestions, folder: Path) -> None:
        """Fit, unless it is done; IndexingError where there are fewer texts or words than dimensions."""
        if not is_whole(folder / LSA_FOLDER):
            build_lsa(folder / LSA_FOLDER, list_training_texts(questions), dimensions=self._dimensions)

    def read(
        self, database: Database, questions: SummaryQuestions, parts: Sequence[str], folder: Path
    ) -> ReadVectors:
        """From the texts themselves."""
        model = LatentSemantics.open(folder / LSA_FOLDER)
        asked = [example for example in questions.examples if example.part in parts]
        queries = model.reduce([example.query for example in asked])[0]
        documents = {
            number: model.reduce(questions.documents[number].sentences)[0]
            if questions.documents[number].sentences
            else np.zeros((0, model.dimensions), dtype=np.float32)
            for number in _list_documents(questions, parts)
        }
        named = dict(zip((example.query_id for example in asked), queries, strict=True))
        return ReadVectors(model.dimensions, named, documents)


def list_training_texts(questions: SummaryQuestions) -> list[str]:
    """The distinct queries and sentences of the part `train`, sorted."""
    documents = {example.document for example in questions.train}
    sentences = (text for number in documents for text in questions.documents[number].sentences)
    return sorted({*sentences, *(example.query for example in questions.train)} - {""})


def copy_features(source: Path, target: Path) -> None:
    """Copy what `Features.train` made, if anything."""
    if (source / LSA_FOLDER).is_dir():
        shutil.copytree(source / LSA_FOLDER, target / LSA_FOLDER)


def digest_learnt(questions: SummaryQuestions) -> str:
    """A digest of all texts and labels that a model learns from or is chosen by."""
    digest = hashlib.sha256()
    seen: dict[int, None] = {}
    for example in (*questions.train, *questions.dev):
        seen[example.document] = None
        digest.update(repr((example.part, example.query, example.document)).encode())
        digest.update(example.labels.tobytes())
    for number in seen:
        digest.update(repr((number, questions.documents[number].sentences)).encode())
    return digest.hexdigest()


def _list_documents(questions: SummaryQuestions, parts: Sequence[str]) -> list[int]:
    """The documents of the examples of the parts, ascending."""
    return sorted({example.document for example in questions.examples if example.part in parts})
