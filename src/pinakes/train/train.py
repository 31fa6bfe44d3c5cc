"""Encoders trained from the database: instances are drawn and recorded, and a base is trained on them."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from pinakes.database import Database
from pinakes.errors import InputError
from pinakes.indexers.encoder.presets import encoder_name, find_preset, list_presets, resolve_model
from pinakes.indexers.names import require_name
from pinakes.indexers.training.settings import TrainingSettings
from pinakes.indexers.training.tasks import average_by_format, group_randomly
from pinakes.progress import Progress, Silent, say_nothing
from pinakes.settings import Settings
from pinakes.train.data import Draw, DrawOptions
from pinakes.train.draw import draw
from pinakes.train.record import record_draw

GROUPINGS: Final = ("format", "random")
"""which tasks share an embedding"""
_SAID_STEPS = 50


@dataclass(frozen=True, slots=True)
class TrainRequest:
    """What is trained on what.

    Attributes:
        name: of the encoder, of its folder within `folder`, and of the recorded draw; fit for identifiers.
        base: an encoder without an adapter, as commands name it; of a fusion also one that was trained here
            with the method adapters.
        tasks: benchmarks, and KIND:CORPUS, as citations:aan.
        devices: a process each; empty: CUDA where there is a device.
        threads: of each process; None: what torch takes, shared.
        grouping: which tasks share an embedding: `format`, or `random` groups, as many.
    """

    name: str
    base: str
    tasks: tuple[str, ...]
    draw: DrawOptions
    settings: TrainingSettings = field(default_factory=TrainingSettings)
    folder: Path = Path("encoders")
    devices: tuple[str, ...] = ()
    threads: int | None = None
    grouping: str = GROUPINGS[0]


@dataclass(frozen=True, slots=True)
class TrainSummary:
    """What a training gave.

    Attributes:
        encoder: its folder, by which commands name it.
        kept_epoch: the epoch, from 1, whose weights are kept, by code; of a search's queries QRY.
        loss, validation: the mean of each format in the last step, and after the kept epochs.
    """

    encoder: str
    method: str
    steps: int
    epochs_run: int
    kept_epoch: dict[str, int]
    parameters: int
    trained: int
    elapsed_s: float
    loss: dict[str, float]
    validation: dict[str, float]


def draw_for(
    database: Database,
    request: TrainRequest,
    *,
    settings: Settings | None = None,
    progress: Progress | None = None,
) -> Draw:
    """The instances that a training would read; nothing is recorded.

    Raises what `draw` does, and `InputError` for a name that is no identifier or is a known encoder's.
    """
    if encoder_name(request.name) != request.name or request.name in list_presets():
        raise InputError(
            f"{request.name!r} cannot be the name of a trained encoder; expected small letters, digits and _ "
            f"that name no known one, as {encoder_name(request.name)}_mine."
        )
    require_name("grouping", request.grouping, GROUPINGS)
    if request.grouping == "random" and request.settings.method == "cls":
        raise InputError(
            "grouping random is of several embeddings, and the method cls has one for all tasks."
        )
    return draw(database, request.tasks, request.draw, settings=settings, progress=progress)


def train(
    database: Database,
    request: TrainRequest,
    drawn: Draw,
    *,
    progress: Progress | None = None,
    say: Callable[[str], None] = say_nothing,
) -> TrainSummary:
    """Record what was drawn, and train on it; goes on where an earlier start was stopped.

    Raises:
        IndexingError: the base cannot be trained so, the folder holds another or a finished training, or a
            loss is no number.
    """
    # torch is loaded when there is something to train.
    from pinakes.indexers.encoder.precision import choose_device
    from pinakes.indexers.training.training import train_encoder

    base = _find_base_folder(request.base)
    record_draw(database, request.name, drawn)
    tasks = [one.task for one in drawn.tasks]
    if request.grouping == "random":
        tasks = group_randomly(tasks, request.draw.seed)
    said = progress or Silent()
    telling = _Telling(said, say)
    try:
        found = train_encoder(
            base,
            tasks,
            request.settings,
            request.folder / request.name,
            devices=request.devices or (choose_device(),),
            threads=request.threads,
            on_step=telling.tell,
        )
    finally:
        said.finish()
    formats = [task.format for task in tasks]
    kept = [found.kept_epoch[task.codes()[0]] for task in tasks]
    validation = [found.validation[epoch - 1][number] for number, epoch in enumerate(kept)]
    return TrainSummary(
        encoder=str(found.folder),
        method=request.settings.method,
        steps=found.steps,
        epochs_run=found.epochs_run,
        kept_epoch=found.kept_epoch,
        parameters=found.parameters,
        trained=found.trained,
        elapsed_s=found.elapsed_s,
        loss=average_by_format(formats, found.losses[-1]),
        validation=average_by_format(formats, validation),
    )


def _find_base_folder(name: str) -> Path:
    """The folder of a base; of an encoder that was trained here its own, whatever it consists of."""
    preset = find_preset(name)
    if preset is not None and preset.folder is not None:
        return preset.folder
    source = resolve_model(name)
    if source.adapter is not None:
        raise InputError(f"{name} has an adapter; expected a base without one. Name the base alone.")
    return source.folder


class _Telling:
    """What is said of the steps: progress by step, and the losses of the formats now and then."""

    def __init__(self, progress: Progress, say: Callable[[str], None]) -> None:
        self._progress, self._say, self._started = progress, say, False

    def tell(self, step: int, steps: int, losses: dict[str, float]) -> None:
        """Say that a step is done."""
        if not self._started:
            self._progress.start("train", steps)
            self._progress.advance(step - 1)
            self._started = True
        self._progress.advance(1)
        if step % _SAID_STEPS == 0 or step == steps:
            told = ", ".join(f"{name} {loss:.4f}" for name, loss in losses.items())
            self._say(f"step {step} of {steps}: loss {told}")


def list_devices(device: str | None, devices: str | None, processes: int) -> tuple[str, ...]:
    """The device of each process; empty: one, wherever it is best.

    Raises:
        InputError: more than one way to say it is used.
    """
    if (devices is not None and (device is not None or processes > 1)) or (
        processes > 1 and device not in (None, "cpu")
    ):
        raise InputError(
            "expected one of device, devices and processes, which is of a CPU. Give devices alone."
        )
    if devices is not None:
        return tuple(one.strip() for one in devices.split(","))
    if processes > 1:
        return ("cpu",) * processes
    return (device,) if device else ()


def describe_summary(summary: TrainSummary) -> dict[str, Any]:
    """A summary as one row: what each format has is a column."""
    row = asdict(summary)
    by_format = {name: row.pop(name) for name in ("kept_epoch", "loss", "validation")}
    for name, values in by_format.items():
        row |= {f"{name}_{code}": value for code, value in values.items()}
    return row
