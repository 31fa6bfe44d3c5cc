"""Training of one sentence model, which can be killed at any point and goes on to the same weights.

Adam on binary cross-entropy of the sentences, each counted once, no padding; after each epoch the mean
average precision on dev says whether to go on.
"""

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits

from pinakes.errors import IndexingError
from pinakes.indexers.repeatable import compute_repeatably, derive_seed, seed_generators
from pinakes.indexers.sentence_models.batches import (
    choose_window,
    cut_pieces,
    group_pieces,
    make_batch,
    make_targets,
)
from pinakes.indexers.sentence_models.checkpoints import (
    CHECKPOINT_FILE,
    History,
    Progressing,
    restore_checkpoint,
    write_checkpoint,
)
from pinakes.indexers.sentence_models.measures import global_average_precision, mean_average_precision
from pinakes.indexers.sentence_models.model import MODEL_FILE, SentenceModel
from pinakes.indexers.sentence_models.networks import build_network
from pinakes.indexers.sentence_models.settings import WINDOW, ModelSettings, Schedule, SentenceExample
from pinakes.indexers.tensor_files import read_tensors

Examples = Sequence[SentenceExample]
OnEpoch = Callable[[int], None]
"""told the number of each epoch that ended, after its checkpoint"""


@dataclass(frozen=True, slots=True)
class Trained:
    """What a training gave; its model is in `folder`.

    Attributes:
        epoch: the one whose weights were kept, from 1.
        epochs_run: until training stopped.
        dev_score: mean average precision on the dev examples that have a relevant sentence, at that epoch.
        dev_global: average precision of all dev sentences as one list, at that epoch.
        dev_examples: dev examples with a relevant sentence.
        train_examples: examples with a sentence; those without teach nothing.
        history: `dev_score` (None: not measured) and mean loss of each epoch.
        elapsed_s: of all sittings.
    """

    settings: ModelSettings
    schedule: Schedule
    folder: Path
    epoch: int
    epochs_run: int
    dev_score: float
    dev_global: float
    dev_examples: int
    train_examples: int
    history: History
    elapsed_s: float


def train_model(
    train: Examples,
    dev: Examples,
    settings: ModelSettings,
    schedule: Schedule,
    folder: Path,
    *,
    digest: str | None = None,
    on_epoch: OnEpoch | None = None,
) -> Trained:
    """Train a model in `folder`, or go on with what was begun there; a finished one is not trained again.

    Args:
        digest: of the examples (`digest_examples`), where the caller knows it.
        on_epoch: called after each epoch.

    Raises:
        IndexingError: there is nothing to learn from or to choose by, or the folder has another training.
    """
    taught = [example for example in train if len(example.sentences)]
    judged = [example for example in dev if example.labels.any()]
    if not any(example.labels.any() for example in taught) or not judged:
        raise IndexingError(
            f"{len(train)} training examples and {len(dev)} of dev: expected one of each with a relevant "
            "sentence; derive more examples, or split them otherwise"
        )
    digest = digest or digest_examples([*train, *dev])
    training = _Training(taught, judged, settings, schedule, folder, digest)
    with compute_repeatably(schedule.device, schedule.threads):
        return training.run(on_epoch or (lambda epoch: None))


def digest_examples(examples: Examples) -> str:
    """A digest of all numbers of the examples, in their order."""
    digest = hashlib.sha256()
    for example in examples:
        digest.update(repr(example.sentences.shape).encode())
        for numbers in (example.query, example.sentences, example.labels):
            digest.update(np.ascontiguousarray(numbers).data)
    return digest.hexdigest()


class _Training:
    def __init__(
        self,
        train: Examples,
        dev: Examples,
        settings: ModelSettings,
        schedule: Schedule,
        folder: Path,
        digest: str,
    ) -> None:
        self._train, self._dev, self._folder = train, dev, folder
        self._settings, self._schedule = settings, schedule
        self._decided = {
            "settings": asdict(settings),
            "schedule": schedule.describe(),
            "examples": digest,
            "torch": torch.__version__,
        }

    def run(self, on_epoch: OnEpoch) -> Trained:
        if (self._folder / MODEL_FILE).exists():
            _, state = read_tensors(self._folder / MODEL_FILE)
            self._require_same(state)
            return self._summarise(state["progress"])
        self._start()
        while not self._is_finished():
            self._run_epoch()
            if self._progress.epoch % self._schedule.checkpoint_every == 0:
                path = self._folder / CHECKPOINT_FILE
                write_checkpoint(path, self._network, self._adam, self._progress, self._decided)
            on_epoch(self._progress.epoch)
        return self._finish()

    def _start(self) -> None:
        """The network and Adam as they are first, or as the checkpoint has them."""
        schedule = self._schedule
        seed_generators(schedule.device, derive_seed(schedule.seed, "weights"))
        dimensions = len(self._train[0].query)
        network = build_network(self._settings, dimensions)
        self._model = SentenceModel(
            network,
            self._settings,
            dimensions,
            device=schedule.device,
            threads=schedule.threads,
            seed=schedule.seed,
        )
        self._network: nn.Module = self._model.network
        self._adam = torch.optim.Adam(
            self._network.parameters(), lr=schedule.learning_rate, weight_decay=self._settings.weight_decay
        )
        self._progress = Progressing()
        if (self._folder / CHECKPOINT_FILE).exists():
            tensors, state = read_tensors(self._folder / CHECKPOINT_FILE)
            self._require_same(state)
            self._progress = restore_checkpoint(tensors, state, self._network, self._adam)

    def _is_finished(self) -> bool:
        progress, patience = self._progress, self._schedule.patience
        waited = progress.epoch - progress.best_epoch
        return progress.epoch >= self._schedule.epochs or (patience is not None and waited >= patience)

    def _run_epoch(self) -> None:
        started, progress, schedule = time.monotonic(), self._progress, self._schedule
        progress.epoch += 1
        seed_generators(schedule.device, derive_seed(schedule.seed, "epoch", progress.epoch))
        order = np.random.default_rng([schedule.seed, progress.epoch]).permutation(len(self._train))
        self._network.train()
        losses = [
            self._step([self._train[row] for row in order[first : first + schedule.batch]])
            for first in range(0, len(order), schedule.batch)
        ]
        self._judge(float(np.mean(losses)))
        progress.elapsed_s += time.monotonic() - started

    def _step(self, examples: Examples) -> float:
        """One step of Adam; the mean loss of the examples' sentences."""
        published, device = self._settings.as_published, self._schedule.device
        length = WINDOW if published else None
        sentences = [one.sentences[:length] for one in examples]
        labels = [one.labels[:length] for one in examples]
        pieces = cut_pieces([len(one) for one in sentences], choose_window(self._settings))
        counted = WINDOW * len(examples) if published else sum(map(len, sentences))
        weight = torch.tensor(self._settings.positive_weight, device=device)
        self._adam.zero_grad()
        total = 0.0
        for group in [pieces] if published else group_pieces(pieces):
            batch = make_batch([one.query for one in examples], sentences, group, device, length)
            targets, counts = make_targets(labels, group, batch.mask.shape[1], device)
            losses = binary_cross_entropy_with_logits(
                self._network(batch), targets, pos_weight=weight, reduction="none"
            )
            loss = (losses if published else losses * counts).sum() / counted
            loss.backward()  # type: ignore[no-untyped-call]
            total += float(loss.detach())
        self._adam.step()
        return total

    def _judge(self, loss: float) -> None:
        """Measure on dev, and keep the weights if they are the best, or the last as published."""
        progress = self._progress
        last = progress.epoch == self._schedule.epochs
        if self._schedule.patience is None and not last:
            progress.history.append((None, loss))
            return
        labels = [example.labels for example in self._dev]
        scores = list(self._model.predict_documents((one.query, one.sentences) for one in self._dev))
        score = mean_average_precision(labels, scores)
        progress.history.append((score, loss))
        if self._schedule.patience is None or score > progress.best_score:
            progress.best_epoch, progress.best_score = progress.epoch, score
            progress.best_global = global_average_precision(labels, scores)
            weights = self._network.state_dict().items()
            progress.best = {name: value.detach().cpu().clone() for name, value in weights}

    def _require_same(self, state: dict[str, Any]) -> None:
        differing = [name for name, value in self._decided.items() if state.get(name) != value]
        if differing:
            raise IndexingError(
                f"{self._folder} has the training of another model: its {' and '.join(differing)} are "
                "different; expected an empty folder, or that of the same training"
            )

    def _finish(self) -> Trained:
        progress = self._progress
        self._network.load_state_dict(progress.best)
        described = progress.describe()
        self._model.trained = {**self._decided, "progress": described}
        self._model.save(self._folder)
        (self._folder / CHECKPOINT_FILE).unlink(missing_ok=True)
        return self._summarise(described)

    def _summarise(self, progress: dict[str, Any]) -> Trained:
        return Trained(
            self._settings,
            self._schedule,
            self._folder,
            epoch=progress["best_epoch"],
            epochs_run=progress["epoch"],
            dev_score=progress["best_score"],
            dev_global=progress["best_global"],
            dev_examples=len(self._dev),
            train_examples=len(self._train),
            history=[(score, loss) for score, loss in progress["history"]],
            elapsed_s=progress["elapsed_s"],
        )
