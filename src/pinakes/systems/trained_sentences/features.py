"""The vectors that a trained scorer reads: of an encoder, stored with all others, or TF-IDF of its own."""

import hashlib
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.indexers.lsa import LatentSemantics, build_lsa, describe_training
from pinakes.indexers.sentence_models.settings import Floats
from pinakes.indexers.side_folder import is_whole
from pinakes.progress import Progress
from pinakes.vectors.encoding import EncoderSession
from pinakes.vectors.of_texts import read_text_vectors
from pinakes.vectors.stored import select_distinct_texts
from pinakes.workload.summaries import PARTS, SummaryQuestions

TFIDF: Final = "tfidf"
LSA_FOLDER: Final = "tfidf"


class Lookup(Protocol):
    """Gives the vectors of texts."""

    dimensions: int

    def find(self, texts: Sequence[str]) -> Floats:
        """The vector of each text (n, d); zeros for one that has nothing to read."""
        ...


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

    def open(
        self, database: Database, questions: SummaryQuestions, parts: Collection[str], folder: Path
    ) -> Lookup:
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
        return self.encoder.encode(database, _select_texts(questions), label, progress)

    def describe(self, database: Database, questions: SummaryQuestions, command: str) -> dict[str, Any]:
        """The encoder and its revision."""
        stored = self.encoder.require(database, _select_texts(questions), command)
        return {"encoder": stored.name, "encoder_id": stored.encoder_id, "encoder_revision": stored.revision}

    def train(self, questions: SummaryQuestions, folder: Path) -> None:
        """Nothing: an encoder is trained elsewhere."""

    def open(
        self, database: Database, questions: SummaryQuestions, parts: Collection[str], folder: Path
    ) -> Lookup:
        """From the encoder's table."""
        texts = _select_texts(questions, parts)
        with database.read() as session:
            stored = self.encoder.find(database, f"pinakes index {questions.scope.requested_as}")
            return read_text_vectors(session, texts, stored)


class TfidfFeatures:
    """TF-IDF of words, fitted on the queries and sentences of the training set, reduced to a few dimensions.

    As published the vectors are whole and scikit-learn's MLP reads them of the sentence alone, never of the
    query (`features=sentence`). Reduced, a network of any kind can read query and sentence.
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

    def open(
        self, database: Database, questions: SummaryQuestions, parts: Collection[str], folder: Path
    ) -> Lookup:
        """From the texts themselves."""
        return _ReducedTexts(LatentSemantics.open(folder / LSA_FOLDER))


class _ReducedTexts:
    def __init__(self, model: LatentSemantics) -> None:
        self._model, self.dimensions = model, model.dimensions

    def find(self, texts: Sequence[str]) -> Floats:
        return self._model.reduce(texts)[0]


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


def _select_texts(questions: SummaryQuestions, parts: Collection[str] = PARTS) -> sa.Select[Any]:
    return select_distinct_texts(questions.select_query_texts(parts), questions.select_paper_texts(parts))
