"""The state of a training between two steps, in one safetensors file that is whole or not there.

Orders and dropout have a seed for each epoch and step, so that no random generator's state is kept.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor

from pinakes.errors import IndexingError
from pinakes.indexers.tensor_files import read_tensors, write_tensors
from pinakes.indexers.training.methods import MultiFormatModel

CHECKPOINT_FILE: Final = "checkpoint.safetensors"
_MOMENTS: Final = ("step", "exp_avg", "exp_avg_sq")


@dataclass(slots=True)
class Progress:
    """Where a training stands.

    Attributes:
        epoch, done: epochs that ended, and steps of the one that runs.
        step: steps in all.
        losses: of each step, the mean loss of each task; None where it had no instance in it.
        validation: of each epoch, the mean loss of each task on its validation instances; None: it has none.
        micro_tokens: tokens at once, after what memory allowed.
        elapsed_s: of all sittings.
        scaler: the state of what scales the losses of fp16, as torch gives it; empty: nothing does.
        best: the trained weights of the best epochs so far, by name; empty: the last ones are kept.
    """

    epoch: int = 0
    done: int = 0
    step: int = 0
    losses: list[list[float | None]] = field(default_factory=list)
    validation: list[list[float | None]] = field(default_factory=list)
    micro_tokens: int = 0
    elapsed_s: float = 0.0
    scaler: dict[str, float] = field(default_factory=dict)
    best: dict[str, Tensor] = field(default_factory=dict)

    def describe(self) -> dict[str, Any]:
        """What JSON can say of it."""
        return {name: value for name, value in asdict(self).items() if name != "best"}


def write_checkpoint(
    folder: Path,
    model: MultiFormatModel,
    optimiser: torch.optim.AdamW,
    progress: Progress,
    decided: Mapping[str, Any],
) -> None:
    """Write weights, AdamW's moments and progress, with what `decided` the training, in place of the last."""
    trained = model.list_trained()
    tensors: dict[str, Tensor] = {f"weights.{name}": value for name, value in trained.items()}
    tensors |= {f"best.{name}": value for name, value in progress.best.items()}
    moments = optimiser.state_dict()["state"]
    for number, name in enumerate(trained):
        # A parameter that no step has reached, as the head of a task whose turn comes later, has none.
        tensors |= {f"{part}.{name}": moments[number][part] for part in _MOMENTS if number in moments}
    write_tensors(folder / CHECKPOINT_FILE, tensors, {"decided": decided, "progress": progress.describe()})


def require_same(path: Path, found: Mapping[str, Any], decided: Mapping[str, Any]) -> None:
    """Raise `IndexingError` where what decided a file's training is not what decides this one."""
    different = sorted(name for name in decided.keys() | found.keys() if decided.get(name) != found.get(name))
    if different:
        raise IndexingError(
            f"{path} is of a training with other {', '.join(different)}; expected the same, to go on. "
            "Give the options of before, or another name, or delete the folder"
        )


def restore_checkpoint(
    folder: Path, model: MultiFormatModel, optimiser: torch.optim.AdamW, decided: Mapping[str, Any]
) -> Progress | None:
    """Put the state back as it was written; None where there is none.

    Raises:
        IndexingError: the file is damaged, or is of another training or version.
    """
    path = folder / CHECKPOINT_FILE
    if not path.exists():
        return None
    tensors, state = read_tensors(path)
    require_same(path, state["decided"], decided)
    if state["progress"].keys() != Progress().describe().keys():
        raise IndexingError(
            f"{path} is of another version of Pinakes; expected this one's, to go on. "
            "Go on with that version, or delete the folder"
        )
    trained = model.list_trained()
    with torch.no_grad():
        for name, value in trained.items():
            value.copy_(tensors[f"weights.{name}"])
    moments = {
        number: {part: tensors[f"{part}.{name}"] for part in _MOMENTS}
        for number, name in enumerate(trained)
        if f"step.{name}" in tensors
    }
    optimiser.load_state_dict({"state": moments, "param_groups": optimiser.state_dict()["param_groups"]})
    best = {name.removeprefix("best."): value for name, value in tensors.items() if name.startswith("best.")}
    return Progress(**state["progress"], best=best)
