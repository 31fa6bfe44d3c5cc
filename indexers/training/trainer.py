"""One sitting of a training: epochs, steps, validation and checkpoints, in one process of one or several."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pinakes.errors import IndexingError
from pinakes.indexers.encoder.encoder import WEIGHT_TYPES
from pinakes.indexers.repeatable import derive_seed, seed_generators
from pinakes.indexers.training.batches import Step, cut_parts, plan_epoch
from pinakes.indexers.training.checkpoints import Progress, restore_checkpoint, write_checkpoint
from pinakes.indexers.training.losses import compute_losses
from pinakes.indexers.training.methods import MultiFormatModel
from pinakes.indexers.training.settings import TrainingSettings
from pinakes.indexers.training.tasks import (
    Instances,
    TrainingTask,
    average_by_format,
    find_best,
    find_stopped,
    group_by_weights,
)
from pinakes.indexers.training.together import LostError, Ranks

OnStep = Callable[[int, int, dict[str, float]], None]
"""told the step, how many there are, and the mean loss of each format in it"""
_MICRO_TOKENS: Final = {"cpu": 2048, "cuda": 32768}
"""tokens at once by default: on a CPU what its caches still help with, on a GPU what keeps it busy"""
_DONE, _NO_ROOM, _FAILED = range(3)
"""what became of a process's part of a step; the worst of all processes counts"""


class Trainer:
    """One sitting of a training."""

    def __init__(
        self,
        model: MultiFormatModel,
        tasks: Sequence[TrainingTask],
        settings: TrainingSettings,
        checkpoints: Path,
        decided: dict[str, Any],
        ranks: Ranks,
        on_step: OnStep | None,
    ) -> None:
        self.model, self.tasks, self.settings = model, tasks, settings
        self._checkpoints, self._decided = checkpoints, decided
        self._ranks, self._device, self._on_step = ranks, ranks.device, on_step
        self._groups = group_by_weights([model.list_trained(task) for task in tasks])
        self._tokens = [model.encode_texts(task.texts) for task in tasks]
        self._lengths = [np.array([len(row) for row in rows], dtype=np.int64) for rows in self._tokens]
        self._trained = list(model.list_trained().values())
        self._optimiser = torch.optim.AdamW(
            self._trained, lr=settings.learning_rate, weight_decay=settings.weight_decay
        )
        micro_tokens = settings.micro_tokens or _MICRO_TOKENS[self._device.partition(":")[0]]
        self.progress = Progress(micro_tokens=micro_tokens)
        is_scaled = settings.precision == "fp16"
        self._scaler = torch.amp.GradScaler(self._device.partition(":")[0], enabled=is_scaled)

    def run(self) -> None:
        """Go on to the end from where the last checkpoint stands."""
        found = restore_checkpoint(self._checkpoints, self.model, self._optimiser, self._decided)
        self._ranks.agree(0)  # none writes while another one reads
        self.progress = found or self.progress
        if self.progress.scaler:
            self._scaler.load_state_dict(self.progress.scaler)
        progress, settings = self.progress, self.settings
        before, started = progress.elapsed_s, time.monotonic()
        while progress.epoch < settings.epoch_count and not self._is_patience_over():
            stopped = self.find_stopped()
            steps = plan_epoch(
                [0 if task.format in stopped else len(task.train) for task in self.tasks],
                settings.batch_size,
                settings.batching_used,
                settings.seed,
                progress.epoch + 1,
                settings.epoch_count,
            )
            before_epoch = progress.step - progress.done
            total = before_epoch + (settings.epoch_count - progress.epoch) * len(steps)
            for step in steps[progress.done :]:
                self._take_step(step, total)
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
        self.progress.scaler = self._scaler.state_dict()
        if self._ranks.rank == 0:
            write_checkpoint(self._checkpoints, self.model, self._optimiser, self.progress, self._decided)

    def _take_step(self, step: Step, steps: int) -> None:
        progress = self.progress
        self.model.train()
        losses = self._find_room(lambda: self._add_gradients(step))
        for group in self._optimiser.param_groups:
            group["lr"] = self.settings.rate_at(progress.step + 1)
        self._ranks.add_gradients(self._trained)
        # The gradients are sums over all processes by now, so that all scale alike.
        self._scaler.step(self._optimiser)
        self._scaler.update()
        progress.step, progress.done = progress.step + 1, progress.done + 1
        progress.losses.append(losses)
        if self._on_step is not None:
            self._on_step(progress.step, steps, self._average_by_format(losses))

    def _find_room(self, compute: Callable[[], Sequence[float]]) -> list[float | None]:
        """The sums that `compute` gives, over all processes, with fewer tokens where memory does not suffice.

        `compute` gives the sum of each task's losses, and how many there were.
        """
        while True:
            found: Sequence[float] = ()
            problem: IndexingError | None = None
            has_room = True
            try:
                found = compute()
            except torch.OutOfMemoryError:
                has_room = False
            except IndexingError as error:
                problem = error
            worst = self._ranks.agree(_FAILED if problem else _DONE if has_room else _NO_ROOM)
            if worst == _FAILED:
                raise problem or LostError
            if worst == _DONE:
                sums = self._ranks.add_numbers(found)
                return [
                    total / count if count else None
                    for total, count in zip(sums[::2], sums[1::2], strict=True)
                ]
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

    def _add_gradients(self, step: Step) -> list[float]:
        """Add this process's part of the gradients of the mean over tasks of each task's mean loss."""
        self._optimiser.zero_grad(set_to_none=True)
        sums = [0.0] * (2 * len(self.tasks))
        shares = {number: 1 / (len(rows) * len(step)) for number, rows in step}
        for place, (number, rows) in self._choose_parts([(n, self.tasks[n].train, rows) for n, rows in step]):
            # Of the part and not of the step, so that it does not matter who computes it.
            seed = derive_seed(self.settings.seed, "step", self.progress.step + 1, place)
            seed_generators(self._device, seed)
            loss = self._compute_losses(number, self.tasks[number].train, rows).sum()
            total = float(loss.detach())
            if not math.isfinite(total):
                self._report_no_number(number, rows)
            self._scaler.scale(loss * shares[number]).backward()  # type: ignore[no-untyped-call]
            sums[2 * number] += total
            sums[2 * number + 1] += len(rows)
        penalty = self.model.compute_penalty() if self._ranks.rank == 0 else None
        if penalty is not None:
            self._scaler.scale(penalty).backward()  # type: ignore[no-untyped-call]
        return sums

    def _report_no_number(self, number: int, rows: NDArray[np.int64]) -> None:
        raise IndexingError(
            f"the loss of {self.tasks[number].name} is no number in step {self.progress.step + 1} (instances "
            f"{', '.join(map(str, rows[:5]))}{', …' if len(rows) > 5 else ''} of {len(rows)}); expected a "
            "finite one. The last checkpoint is kept. Lower the learning rate, or correct the targets"
        )

    def _choose_parts(
        self, read: Sequence[tuple[int, Instances, NDArray[np.int64]]]
    ) -> Iterator[tuple[int, tuple[int, NDArray[np.int64]]]]:
        """The number, task and rows of each part that this process computes, of rows of some tasks."""
        parts = [
            (number, rows) for number, given, all_rows in read for rows in self._cut(number, given, all_rows)
        ]
        held = {number: given for number, given, _ in read}
        costs = [int(self._lengths[number][held[number].texts[rows]].sum()) for number, rows in parts]
        yield from ((place, parts[place]) for place in self._ranks.choose(costs))

    def _cut(self, number: int, instances: Instances, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        lengths = self._lengths[number][instances.texts[rows].reshape(len(rows), -1)]
        is_padded = not self.model.can_run_packed(self._device)
        return [rows[part] for part in cut_parts(lengths, self.progress.micro_tokens, is_padded)]

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
            vectors = self.model.embed(tokens, code, self._device)
            for place, part in zip(chosen, vectors.view(len(chosen), len(texts), -1), strict=True):
                columns[place] = part
        return [column for column in columns if column is not None]

    def _cast(self) -> Any:
        precision = self.settings.precision
        if precision == "fp32":
            return nullcontext()
        return torch.autocast(self._device.partition(":")[0], WEIGHT_TYPES[precision])

    @torch.no_grad()
    def _validate(self) -> None:
        progress = self.progress
        self.model.eval()
        progress.validation.append(self._find_room(self._measure))
        trained = self.model.list_trained()
        for tasks, names in self._groups.items():
            if self._find_best(tasks) == progress.epoch:
                progress.best |= {name: trained[name].detach().cpu().clone() for name in names}

    def _measure(self) -> list[float]:
        sums = [0.0] * (2 * len(self.tasks))
        held = [task.validation for task in self.tasks]
        read = [(number, one, np.arange(len(one))) for number, one in enumerate(held) if len(one)]
        for _, (number, rows) in self._choose_parts(read):
            sums[2 * number] += float(self._compute_losses(number, held[number], rows).sum())
            sums[2 * number + 1] += len(rows)
        return sums

    def find_kept(self) -> dict[str, int]:
        """The epoch, from 1, whose weights each code has in the end: its tasks' best, or the last."""
        found = {
            code: self._find_best(tasks) or self.progress.epoch
            for tasks in self._groups
            for number in tasks
            for code in self.tasks[number].codes()
        }
        return {code: found[code] for code in self.model.codes}

    def _find_best(self, tasks: Sequence[int]) -> int:
        """The best epoch of tasks that share weights; 0: none validates, or there is no patience."""
        formats = [self.tasks[number].format for number in tasks]
        by_epoch = [
            average_by_format(formats, [losses[number] for number in tasks])
            for losses in self.progress.validation
        ]
        return find_best(by_epoch) if self.settings.patience else 0

    def find_stopped(self) -> dict[str, int]:
        """The formats that train no more, each with the epoch after which it stopped."""
        by_epoch = [self._average_by_format(losses) for losses in self.progress.validation]
        return find_stopped(by_epoch, self.settings.patience)

    def _is_patience_over(self) -> bool:
        measured = {task.format for task in self.tasks if len(task.validation)}
        return bool(measured) and measured <= self.find_stopped().keys()

    def _average_by_format(self, losses: Sequence[float | None]) -> dict[str, float]:
        return average_by_format([task.format for task in self.tasks], losses)
