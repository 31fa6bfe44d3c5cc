"""Training of an encoder on tasks of several formats, which can be killed at any point and goes on.

On one machine, with as many devices, torch version and number of threads, the same base, tasks and settings
give the same weights to the bit, whether or not the training was stopped on its way.
"""

import hashlib
import re
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from pinakes.errors import IndexingError
from pinakes.indexers.encoder.model_settings import read_json
from pinakes.indexers.encoder.trained import RECORD_FILE
from pinakes.indexers.repeatable import compute_repeatably, derive_seed, seed_generators
from pinakes.indexers.training.bases import Base, find_base
from pinakes.indexers.training.batches import plan_epoch
from pinakes.indexers.training.checkpoints import require_same
from pinakes.indexers.training.export import write_encoder
from pinakes.indexers.training.methods import MultiFormatModel
from pinakes.indexers.training.settings import TrainingSettings
from pinakes.indexers.training.tasks import TrainingTask, list_codes, require_trainable
from pinakes.indexers.training.together import Ranks, run_together
from pinakes.indexers.training.trainer import OnStep, Trainer
from pinakes.version import VERSION

_DEVICE: Final = re.compile(r"^(cpu|cuda(:\d+)?)$")
_CHECKPOINTS: Final = "checkpoint"
"""within the encoder's folder until it is whole: the state, and of a fusion the adapters"""


@dataclass(frozen=True, slots=True)
class TrainedEncoder:
    """What a training gave; of a fusion what its second step gave.

    Attributes:
        folder: of the encoder, which is its name in a command.
        steps, epochs_run: of the optimiser; epochs that ran.
        kept_epoch: the one, from 1, whose weights are kept, by code.
        losses: of each step, the mean loss of each task in the order of `tasks`; None: no instance of it.
        validation: the same of each epoch on validation instances.
        parameters, trained: numbers that the encoder has without heads, and how many of them were trained.
        elapsed_s: of all sittings.
    """

    folder: Path
    tasks: list[str]
    steps: int
    epochs_run: int
    kept_epoch: dict[str, int]
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
    devices: Sequence[str] = ("cpu",),
    threads: int | None = None,
    on_step: OnStep | None = None,
) -> TrainedEncoder:
    """Train the model in `base` on `tasks` and write the encoder into `folder`.

    A training that was stopped goes on from its last checkpoint in `folder`; one that ended is an error. With
    several devices each has a process, and the same device may be named again; `threads` is for each.

    Raises:
        IndexingError: a task cannot be trained on, the base does not fit the method, the folder holds another
            training or a finished one, a process ended, or a loss is no number: the last checkpoint is then
            as it was.
    """
    require_trainable(tasks)
    if (folder / RECORD_FILE).exists():
        raise IndexingError(
            f"{folder} holds a trained encoder; expected none. Give another name, or delete it"
        )
    _require_devices(devices, settings)
    job = _Job(tasks, settings, tuple(devices), threads or _share_threads(devices), on_step or _tell_nobody)
    found = find_base(base, settings.method, list_codes(tasks))
    if settings.method == "fusion" and not found.adapters:
        return _train_adapters_first(job, found, folder)
    return _train_step(job, found, folder)


def _require_devices(devices: Sequence[str], settings: TrainingSettings) -> None:
    kinds = {device.partition(":")[0] for device in devices}
    if len(kinds) != 1 or not all(map(_DEVICE.match, devices)):
        raise IndexingError(
            f"the devices are {', '.join(devices) or 'none'}; expected cpu, or CUDA devices as cuda:0,cuda:1"
        )
    if kinds == {"cuda"} and len(set(devices)) < len(devices):
        raise IndexingError(f"the devices are {', '.join(devices)}; expected each CUDA device once.")
    if kinds == {"cuda"}:
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        absent = [device for device in devices if int(device.partition(":")[2] or 0) >= count]
        if absent:
            raise IndexingError(
                f"there is no {absent[0]} among the {count} CUDA devices. Name one of them, or cpu"
            )
    elif settings.precision == "fp16":
        raise IndexingError(
            "the precision is fp16 on a CPU; expected a CUDA device for it. Train with fp32 or bf16"
        )


def _share_threads(devices: Sequence[str]) -> int:
    return max(1, torch.get_num_threads() // len(devices))


def _tell_nobody(step: int, steps: int, losses: dict[str, float]) -> None:
    """Nobody listens."""


@dataclass(frozen=True, slots=True)
class _Job:
    """What is the same in both steps of a fusion."""

    tasks: Sequence[TrainingTask]
    settings: TrainingSettings
    devices: tuple[str, ...]
    threads: int
    on_step: OnStep

    def count_steps(self) -> int:
        """Steps in all, where patience does not end it."""
        settings, sizes = self.settings, [len(task.train) for task in self.tasks]
        planned = (sizes, settings.batch_size, settings.batching_used, settings.seed, 1, settings.epoch_count)
        return settings.epoch_count * len(plan_epoch(*planned))


def _train_adapters_first(job: _Job, base: Base, folder: Path) -> TrainedEncoder:
    """Adapters in a folder within the checkpoint's, unless they are there; then their fusion."""
    first = replace(job, settings=replace(job.settings, method="adapters"))
    inner = folder / _CHECKPOINTS / "adapters"
    before, after = first.count_steps(), job.count_steps()
    if (inner / RECORD_FILE).exists():
        require_same(inner / RECORD_FILE, read_json(inner / RECORD_FILE)["decided"], _decide(first, base))
    else:
        _train_step(replace(first, on_step=_count_from(0, before + after, job.on_step)), base, inner)
    found = find_base(inner, "fusion", list_codes(job.tasks))
    return _train_step(replace(job, on_step=_count_from(before, before + after, job.on_step)), found, folder)


def _count_from(before: int, steps: int, on_step: OnStep) -> OnStep:
    """Who is told the steps of a part of a training as steps of the whole."""
    return lambda step, _, losses: on_step(before + step, steps, losses)


def _train_step(job: _Job, base: Base, folder: Path) -> TrainedEncoder:
    """Train in this process, or in one for each device."""
    given = (job.tasks, job.settings, job.threads, _decide(job, base), base, folder)
    if len(job.devices) == 1:
        _sit(*given, Ranks(device=job.devices[0]), job.on_step)
    else:
        run_together(_sit, given, job.devices, job.on_step)
    record = read_json(folder / RECORD_FILE)
    found = {name: record[name] for name in TrainedEncoder.__dataclass_fields__ if name != "folder"}
    return TrainedEncoder(folder=folder, **found)


def _decide(job: _Job, base: Base) -> dict[str, Any]:
    """What decides the weights."""
    return {
        **base.describe(),
        "tasks": {task.name: digest_task(task) for task in job.tasks},
        "settings": asdict(job.settings),
        "device": job.devices[0].partition(":")[0],
        "processes": len(job.devices),
        "threads": job.threads,
        "torch": str(torch.__version__),
    }


def _sit(
    tasks: Sequence[TrainingTask],
    settings: TrainingSettings,
    threads: int,
    decided: dict[str, Any],
    base: Base,
    folder: Path,
    ranks: Ranks,
    on_step: OnStep,
) -> None:
    """What each process does: train to the end, and write the encoder if it is the first one."""
    with compute_repeatably(ranks.device, threads):
        seed_generators(ranks.device, derive_seed(settings.seed, "start"))
        model = MultiFormatModel(base, settings, tasks).to(ranks.device)
        if settings.recompute:
            # The library's later name for it, where it has that.
            later = getattr(model.base, "activation_checkpointing_enable", None)
            (later or model.base.gradient_checkpointing_enable)()
        trainer = Trainer(model, tasks, settings, folder / _CHECKPOINTS, decided, ranks, on_step)
        trainer.run()
    if ranks.rank == 0:
        record = {"decided": decided, "code_version": VERSION, **_describe_result(trainer)}
        if (base.folder / RECORD_FILE).exists():
            before = read_json(base.folder / RECORD_FILE)
            record |= {"base_training": before}
            if base.adapters:
                record["base_folder"] = before["base_folder"]
        write_encoder(model, base, folder, record)
        shutil.rmtree(folder / _CHECKPOINTS, ignore_errors=True)


def _describe_result(trainer: Trainer) -> dict[str, Any]:
    progress, model = trainer.progress, trainer.model
    heads = {f"heads.{name}" for name, _ in model.heads.named_parameters()}
    trained = sum(value.numel() for name, value in model.list_trained().items() if name not in heads)
    return {
        "tasks": [task.name for task in trainer.tasks],
        "formats": [task.format for task in trainer.tasks],
        "groups": {task.name: task.group for task in trainer.tasks if task.group},
        "steps": progress.step,
        "epochs_run": progress.epoch,
        "kept_epoch": trainer.find_kept(),
        "stopped": trainer.find_stopped(),
        "losses": progress.losses,
        "validation": progress.validation,
        "parameters": sum(value.numel() for value in model.base.parameters()),
        "trained": trained,
        "elapsed_s": progress.elapsed_s,
    }


def digest_task(task: TrainingTask) -> str:
    """The sha256, in hex, of what a task gives to a training: its texts, targets and order."""
    group = (task.group,) if task.group else ()
    digest = hashlib.sha256(repr((task.name, task.format, task.objective, task.classes, *group)).encode())
    for text in task.texts:
        encoded = text.encode()
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    for part in (task.train, task.validation):
        for array in (part.texts, part.targets):
            digest.update(
                repr((array.shape, array.dtype.str)).encode() + np.ascontiguousarray(array).tobytes()
            )
    return digest.hexdigest()
