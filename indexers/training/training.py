"""Training of an encoder on tasks of several formats, which can be killed at any point and goes on.

On one machine, device, torch version and number of threads, the same base, tasks and settings give the same
weights to the bit, whether or not the training was stopped on its way.
"""

import hashlib
import math
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pinakes.errors import IndexingError
from pinakes.indexers.encoder.encoder import pad_tokens
from pinakes.indexers.encoder.model import digest_weights
from pinakes.indexers.encoder.model_settings import read_model_settings
from pinakes.indexers.encoder.trained import RECORD_FILE
from pinakes.indexers.repeatable import compute_repeatably, derive_seed
from pinakes.indexers.training.batches import Step, cut_parts, plan_epoch
from pinakes.indexers.training.checkpoints import (
    Progress,
    restore_checkpoint,
    write_checkpoint,
)
from pinakes.indexers.training.export import write_encoder
from pinakes.indexers.training.losses import compute_losses
from pinakes.indexers.training.methods import MultiFormatModel, load_base
from pinakes.indexers.training.settings import TrainingSettings
from pinakes.indexers.training.tasks import (
    Instances,
    TrainingTask,
    average_by_format,
    require_trainable,
)

Found = TypeVar("Found")
OnStep = Callable[[int, int, dict[str, float]], None]
"""told the step, how many there are, and the mean loss of each format in it"""


@dataclass(frozen=True, slots=True)
class TrainedEncoder:
    """What a training gave.

    Attributes:
        folder: of the encoder, which is its name in a command.
        steps, epochs_run, epoch: of the optimiser; epochs that ran, and the one whose weights are kept.
        losses: of each step, the mean loss of each task in the order of `tasks`; None: no instance of it.
        validation: the same of each epoch on validation instances.
        parameters, trained: numbers that the encoder has without heads, and how many of them were trained.
        elapsed_s: of all sittings.
    """

    folder: Path
    tasks: list[str]
    steps: int
    epochs_run: int
    epoch: int
    losses: list[list[float | None]]
    validation: list[list[float | None]]
    parameters: int
    trained: int
    elapsed_s: float


def train_encoder(
    base: Path,
    tasks: Sequence[TrainingTask],
    settings: TrainingSettings,
    folder: Path,
    *,
    device: str = "cpu",
    threads: int | None = None,
    on_step: OnStep | None = None,
) -> TrainedEncoder:
    """Train the model in `base` on `tasks` and write the encoder into `folder`.

    A training that was stopped goes on from its last checkpoint in `folder`; one that ended is an error.

    Raises:
        IndexingError: a task cannot be trained on, the base does not fit the method, the folder holds another
            training or a finished one, or a loss is no number: the last checkpoint is then as it was.
    """
    require_trainable(tasks)
    if (folder / RECORD_FILE).exists():
        raise IndexingError(
            f"{folder} holds a trained encoder; expected none. Give another name, or delete it"
        )
    number = torch.get_num_threads() if threads is None else threads
    with compute_repeatably(device, number):
        torch.manual_seed(derive_seed(settings.seed, "start"))
        model = MultiFormatModel(*load_base(base), settings, tasks).to(device)
        if settings.recompute:
            model.base.gradient_checkpointing_enable()
        trainer = _Trainer(model, tasks, settings, folder, device, on_step)
        trainer.decided = _describe_training(base, tasks, settings, device, number)
        trainer.run()
        return _write_result(trainer, base)


def _describe_training(
    base: Path, tasks: Sequence[TrainingTask], settings: TrainingSettings, device: str, threads: int
) -> dict[str, Any]:
    return {
        "base": digest_weights(read_model_settings(base).transformer),
        "tasks": {task.name: digest_task(task) for task in tasks},
        "settings": asdict(settings),
        "device": device.partition(":")[0],
        "threads": threads,
        "torch": str(torch.__version__),
    }


def digest_task(task: TrainingTask) -> str:
    """The sha256, in hex, of what a task gives to a training: its texts, targets and order."""
    digest = hashlib.sha256(repr((task.name, task.format, task.objective, task.classes)).encode())
    for text in task.texts:
        encoded = text.encode()
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    for part in (task.train, task.validation):
        for array in (part.texts, part.targets):
            digest.update(
                repr((array.shape, array.dtype.str)).encode() + np.ascontiguousarray(array).tobytes()
            )
    return digest.hexdigest()


class _Trainer:
    """One sitting of a training."""

    decided: dict[str, Any]

    def __init__(
        self,
        model: MultiFormatModel,
        tasks: Sequence[TrainingTask],
        settings: TrainingSettings,
        folder: Path,
        device: str,
        on_step: OnStep | None,
    ) -> None:
        self.model, self.tasks, self.settings, self.folder = model, tasks, settings, folder
        self.checkpoints = folder / "checkpoint"
        self._device, self._on_step = device, on_step
        self._tokens = [model.encode_texts(task.texts) for task in tasks]
        self._lengths = [np.array([len(row) for row in rows], dtype=np.int64) for rows in self._tokens]
        self._sizes = [len(task.train) for task in tasks]
        self._optimiser = torch.optim.AdamW(
            model.list_trained().values(), lr=settings.learning_rate, weight_decay=settings.weight_decay
        )
        self.progress = Progress(micro_tokens=settings.micro_tokens)

    def run(self) -> None:
        """Go on to the end from where the last checkpoint stands."""
        found = restore_checkpoint(self.checkpoints, self.model, self._optimiser, self.decided)
        self.progress = found or self.progress
        progress, settings = self.progress, self.settings
        before, started = progress.elapsed_s, time.monotonic()
        while progress.epoch < settings.epoch_count and not self._is_patience_over():
            steps = plan_epoch(
                self._sizes,
                settings.batch_size,
                settings.batching_used,
                settings.seed,
                progress.epoch + 1,
                settings.epoch_count,
            )
            for step in steps[progress.done :]:
                self._take_step(step, settings.epoch_count * len(steps))
                progress.elapsed_s = before + time.monotonic() - started
                if progress.step % settings.checkpoint_steps == 0:
                    self._keep()
            progress.epoch, progress.done = progress.epoch + 1, 0
            self._validate()
            progress.elapsed_s = before + time.monotonic() - started
            self._keep()
        if progress.best:
            self.model.load_state_dict(progress.best, strict=False)

    def _keep(self) -> None:
        write_checkpoint(self.checkpoints, self.model, self._optimiser, self.progress, self.decided)

    def _take_step(self, step: Step, steps: int) -> None:
        progress = self.progress
        self.model.train()
        losses = self._find_room(lambda: self._add_gradients(step))
        for group in self._optimiser.param_groups:
            group["lr"] = self.settings.rate_at(progress.step + 1)
        self._optimiser.step()
        progress.step, progress.done = progress.step + 1, progress.done + 1
        progress.losses.append(losses)
        if self._on_step is not None:
            self._on_step(progress.step, steps, self._average_by_format(losses))

    def _find_room(self, compute: Callable[[], Found]) -> Found:
        """What `compute` gives, with fewer tokens at once where memory does not suffice."""
        while True:
            try:
                return compute()
            except torch.OutOfMemoryError:
                self._halve()

    def _halve(self) -> None:
        progress = self.progress
        if progress.micro_tokens <= 1:
            raise IndexingError(
                "memory does not hold one instance; expected room for it. Give fewer max_tokens, or recompute"
            )
        progress.micro_tokens //= 2
        if self._device.startswith("cuda"):
            torch.cuda.empty_cache()

    def _add_gradients(self, step: Step) -> list[float | None]:
        """The gradients of the mean over tasks of each task's mean loss; and these."""
        self._optimiser.zero_grad(set_to_none=True)
        torch.manual_seed(derive_seed(self.settings.seed, "step", self.progress.step + 1))
        means: list[float | None] = [None] * len(self.tasks)
        for number, rows in step:
            total = 0.0
            for part in self._cut(number, self.tasks[number].train, rows):
                loss = self._compute_losses(number, self.tasks[number].train, part).sum()
                total += float(loss.detach())
                if not math.isfinite(total):
                    self._report_no_number(number, rows)
                (loss / (len(rows) * len(step))).backward()  # type: ignore[no-untyped-call]
            means[number] = total / len(rows)
        return means

    def _report_no_number(self, number: int, rows: NDArray[np.int64]) -> None:
        raise IndexingError(
            f"the loss of {self.tasks[number].name} is no number in step {self.progress.step + 1} (instances "
            f"{', '.join(map(str, rows[:5]))}{', …' if len(rows) > 5 else ''} of {len(rows)}); expected a "
            "finite one. The last checkpoint is kept. Lower the learning rate, or correct the targets"
        )

    def _cut(self, number: int, instances: Instances, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        lengths = self._lengths[number][instances.texts[rows].reshape(len(rows), -1)]
        return [rows[part] for part in cut_parts(lengths, self.progress.micro_tokens)]

    def _compute_losses(self, number: int, instances: Instances, rows: NDArray[np.int64]) -> Tensor:
        """The losses (n,) of some instances of a task."""
        task = self.tasks[number]
        texts = instances.texts[rows].reshape(len(rows), -1)
        with self._cast():
            columns = self._embed(number, texts)
            vectors = columns[0] if task.objective != "triplets" else torch.stack(columns, dim=1)
            answers = self.model.answer(task, vectors).float()
        targets = torch.from_numpy(instances.targets[rows]).to(self._device)
        return compute_losses(task.objective, answers, targets, self.settings.margin)

    def _embed(self, number: int, texts: NDArray[np.int64]) -> list[Tensor]:
        """The vectors (n, d) of each column of texts; columns of one code go through the model together."""
        codes = self.tasks[number].codes()
        columns: list[Tensor | None] = [None] * len(codes)
        for code in dict.fromkeys(codes):
            chosen = [place for place, name in enumerate(codes) if name == code]
            tokens = [
                self.model.put_code(self._tokens[number][row], code)
                for place in chosen
                for row in texts[:, place]
            ]
            ids, mask = pad_tokens(tokens, self.model.tokenizer.pad_token_id or 0)
            vectors = self.model.embed(ids.to(self._device), mask.to(self._device), code)
            for place, part in zip(chosen, vectors.view(len(chosen), len(texts), -1), strict=True):
                columns[place] = part
        return [column for column in columns if column is not None]

    def _cast(self) -> Any:
        if self.settings.precision == "fp32":
            return nullcontext()
        return torch.autocast(self._device.partition(":")[0], torch.bfloat16)

    @torch.no_grad()
    def _validate(self) -> None:
        progress = self.progress
        self.model.eval()
        means = [self._find_room(partial(self._measure, number)) for number in range(len(self.tasks))]
        earlier = [self._average_by_format(losses) for losses in progress.validation]
        now = self._average_by_format(means)
        progress.validation.append(means)
        if not now or not self.settings.patience:
            return
        improved = [name for name, value in now.items() if all(value < others[name] for others in earlier)]
        progress.waited = 0 if improved else progress.waited + 1
        mean = sum(now.values())
        if all(mean < sum(others.values()) for others in earlier):
            progress.best_epoch = progress.epoch
            progress.best = {
                name: value.detach().cpu().clone() for name, value in self.model.list_trained().items()
            }

    def _measure(self, number: int) -> float | None:
        instances = self.tasks[number].validation
        if not len(instances):
            return None
        parts = self._cut(number, instances, np.arange(len(instances)))
        total = sum(float(self._compute_losses(number, instances, part).sum()) for part in parts)
        return total / len(instances)

    def _is_patience_over(self) -> bool:
        return 0 < self.settings.patience <= self.progress.waited

    def _average_by_format(self, losses: Sequence[float | None]) -> dict[str, float]:
        return average_by_format([task.format for task in self.tasks], losses)


def _write_result(trainer: _Trainer, base: Path) -> TrainedEncoder:
    progress, model = trainer.progress, trainer.model
    heads = {f"heads.{name}" for name, _ in model.heads.named_parameters()}
    trained = sum(value.numel() for name, value in model.list_trained().items() if name not in heads)
    result = {
        "tasks": [task.name for task in trainer.tasks],
        "formats": [task.format for task in trainer.tasks],
        "steps": progress.step,
        "epochs_run": progress.epoch,
        "epoch": progress.best_epoch or progress.epoch,
        "losses": progress.losses,
        "validation": progress.validation,
        "parameters": sum(value.numel() for value in model.base.parameters()),
        "trained": trained,
        "elapsed_s": progress.elapsed_s,
    }
    write_encoder(model, base, trainer.folder, {"decided": trainer.decided, **result})
    shutil.rmtree(trainer.checkpoints, ignore_errors=True)
    del result["formats"]
    return TrainedEncoder(folder=trainer.folder, **result)
