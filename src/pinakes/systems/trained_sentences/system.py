"""Trained scorers of sentences, by names such as `sentence_lstm:minilm` or `sentence_mlp:tfidf`.

`index` makes the vectors, draws settings and trains a model of each; the best on dev lies in a side index and
answers. A training that was killed goes on where its last checkpoint is: checkpoints lie in a hidden folder
beside the index, named by the digest of all that decides the models, until the search has ended.
"""

import hashlib
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

import orjson

from pinakes.database import Database
from pinakes.errors import IndexingError
from pinakes.faults import told_as
from pinakes.indexers.encoder.precision import choose_device, device_name
from pinakes.indexers.sentence_models.settings import Kind
from pinakes.indexers.side_folder import hold_folder, read_parameters, whole_folder, write_parameters
from pinakes.options import read_options
from pinakes.progress import Progress
from pinakes.systems.base import (
    Ability,
    IndexSummary,
    SentenceScores,
    System,
    SystemDescription,
    SystemOptions,
    Trial,
)
from pinakes.systems.trained_sentences.features import (
    TFIDF,
    EncoderFeatures,
    Features,
    TfidfFeatures,
    copy_features,
    digest_learnt,
)
from pinakes.systems.trained_sentences.options import (
    Plan,
    SentenceModelOptions,
    SentenceTransformerOptions,
    make_plan,
)
from pinakes.vectors.encoding import start_session
from pinakes.vectors.side_index import Row, SideIndex
from pinakes.workload.summaries import SummaryQuestions


class SentenceModelSystem(System):
    """A system that scores sentences by a network over [query; sentence]."""

    can: ClassVar[frozenset[Ability]] = frozenset({"extract"})
    own_options: ClassVar[type[SentenceModelOptions]] = SentenceModelOptions
    model: ClassVar[Kind]

    def __init__(self, name: str, options: SystemOptions) -> None:
        own = read_options(self.own_options, name, options.parameters, options.fixed)
        self._own, self._options = own, options
        self._device = (options.device or choose_device()).split(",")[0]
        self._features = _choose_features(name.partition(":")[2], own, options)
        self.name = f"sentence_{self.model}:{self._features.name}"
        self._requested_as = name
        self._checked: tuple[str, Row] | None = None

    def index(self, database: Database, questions: SummaryQuestions, progress: Progress) -> IndexSummary:
        """Make the vectors, and train the models unless they are trained."""
        started = time.monotonic()
        added, existing = self._features.prepare(database, questions, progress)
        plan = self._plan(questions)

        def build(folder: Path) -> dict[str, Any]:
            return self._build(database, questions, plan, folder, progress)

        _, is_new = self._side_index(questions).ensure(
            database, self._digest(database, questions, plan), build
        )
        examples = len(questions.train)
        added, existing = (added + examples, existing) if is_new else (added, existing + examples)
        return IndexSummary(self.name, added, existing, time.monotonic() - started)

    def describe(self, database: Database, questions: SummaryQuestions) -> SystemDescription:
        """The vectors, what was trained and which model answers, and a digest of what it learnt from."""
        plan, row = self._plan(questions), self._require(database, questions)
        vectors = self._features.describe(database, questions, self._command(questions))
        encoder_id, revision = vectors.pop("encoder_id", None), vectors.pop("encoder_revision", None)
        chosen = next(one for one in orjson.loads(row["parameters"])["trials"] if one["chosen"])
        return SystemDescription(
            {
                **vectors,
                **plan.describe(),
                "chosen": chosen["settings"],
                "content_digest": row["content_digest"],
            },
            device=device_name(self._device),
            encoder_id=encoder_id,
            encoder_revision=revision,
            precision=getattr(getattr(self._features, "encoder", None), "precision", None),
        )

    def score_sentences(
        self, database: Database, questions: SummaryQuestions, progress: Progress
    ) -> Iterator[SentenceScores]:
        """Probabilities that sentences are relevant, of every test example."""
        from pinakes.indexers.sentence_models.model import SentenceModel  # imported late: torch

        folder = self._side_index(questions).path(self._require(database, questions))
        read_parameters(folder, self._kind)
        model = SentenceModel.open(folder, self._device)
        vectors = self._features.read(database, questions, ["test"], folder)
        pairs = ((one.query, one.sentences) for one in vectors.list_examples(questions.test))
        for example, scores in zip(questions.test, model.predict_documents(pairs), strict=True):
            yield SentenceScores(example.query_id, scores.astype("float64"))

    def list_trials(self, database: Database, questions: SummaryQuestions) -> Sequence[Trial]:
        """The models of the search, in its order."""
        row = self._require(database, questions)
        return [Trial(**one) for one in orjson.loads(row["parameters"])["trials"]]

    def _plan(self, questions: SummaryQuestions) -> Plan:
        over_tfidf = self._features.name == TFIDF
        mode = questions.benchmark.mode
        return make_plan(self.model, self._own, mode, self._device, over_tfidf=over_tfidf)

    def _build(
        self,
        database: Database,
        questions: SummaryQuestions,
        plan: Plan,
        folder: Path,
        progress: Progress,
    ) -> dict[str, Any]:
        """The columns of the side index, whose folder is filled; the checkpoints are removed behind it."""
        working = folder.with_name(f".{folder.name}.training")
        with told_as(IndexingError, f"the models of {folder} cannot be trained"):
            working.mkdir(parents=True, exist_ok=True)
        with hold_folder(working, f"the models of {folder} are being trained"):
            trials, best = self._search(database, questions, plan, working, progress)
            with whole_folder(folder) as building:
                copy_features(working, building)
                for file in best.iterdir():
                    shutil.copy(file, building / file.name)
                write_parameters(building, {"kind": self._kind})
            shutil.rmtree(working)
        return {"parameters": {"trials": trials}, "row_count": len(questions.train)}

    def _search(
        self,
        database: Database,
        questions: SummaryQuestions,
        plan: Plan,
        working: Path,
        progress: Progress,
    ) -> tuple[list[dict[str, Any]], Path]:
        """What is kept of each trial, and the folder of the chosen one."""
        from pinakes.indexers.sentence_models.search import Budget, search_models  # imported late: torch

        own, schedule = plan.own, plan.schedule
        self._features.train(questions, working)
        vectors = self._features.read(database, questions, ["train", "dev"], working)
        label = f"train {self.name}, up to {own.trials} models of {schedule.epochs} epochs"
        progress.start(label, own.trials * schedule.epochs)
        try:
            found = search_models(
                vectors.list_examples(questions.train),
                vectors.list_examples(questions.dev),
                plan.make_space(vectors.dimensions),
                Budget(own.trials, own.seconds),
                own.seed,
                schedule,
                working,
                on_epoch=lambda epoch: progress.advance(1),
            )
        finally:
            progress.finish()
        trials = [
            {
                "settings": {**asdict(one.trained.settings), **schedule.describe()},
                "epochs": one.trained.epoch,
                "dev_score": one.trained.dev_score,
                "chosen": one.chosen,
            }
            for one in found
        ]
        return trials, next(one.trained.folder for one in found if one.chosen)

    @property
    def _kind(self) -> str:
        return f"sentence_{self.model}"

    def _side_index(self, questions: SummaryQuestions) -> SideIndex:
        benchmark, features = questions.benchmark, self._features.name
        asked = f"{benchmark.name}:{benchmark.asked_of}:{benchmark.mode}"
        named = (benchmark.name, str(benchmark.asked_of), features)
        return SideIndex(self._options.index_folder, self._kind, asked, "", self._kind, named, features)

    def _digest(self, database: Database, questions: SummaryQuestions, plan: Plan) -> str:
        from importlib.metadata import version

        decided = {
            **plan.describe(),
            **self._features.describe(database, questions, self._command(questions)),
            "learnt": digest_learnt(questions),
            "library": f"torch {version('torch')}",
        }
        decided.pop("encoder_id", None)
        return hashlib.sha256(orjson.dumps(decided, option=orjson.OPT_SORT_KEYS)).hexdigest()

    def _require(self, database: Database, questions: SummaryQuestions) -> Row:
        """The row of the trained models, looked at once a question; `RunError` where it lacks or is stale."""
        if self._checked is None or self._checked[0] != questions.digest:
            row = self._side_index(questions).require(
                database,
                lambda: self._digest(database, questions, self._plan(questions)),
                what=f"{self._kind} trained on {questions.benchmark.asked_of} over {self._features.name}",
                command=self._command(questions),
                built_from="examples, vectors or settings",
            )
            self._checked = (questions.digest, row)
        return self._checked[1]

    def _command(self, questions: SummaryQuestions) -> str:
        requested = f"--system {self._requested_as}{self._options.requested}"
        return f"`pinakes index {questions.scope.requested_as} {requested}`"


class SentenceMlp(SentenceModelSystem):
    """Every sentence by itself."""

    model: ClassVar[Kind] = "mlp"


class SentenceLstm(SentenceModelSystem):
    """The sentences of a document in their order."""

    model: ClassVar[Kind] = "lstm"


class SentenceTransformer(SentenceModelSystem):
    """The sentences of a document, each attending to those around it."""

    own_options: ClassVar[type[SentenceModelOptions]] = SentenceTransformerOptions
    model: ClassVar[Kind] = "transformer"


def _choose_features(name: str, own: SentenceModelOptions, options: SystemOptions) -> Features:
    if name == TFIDF:
        return TfidfFeatures(own.dimensions)
    return EncoderFeatures(start_session(name, options))
