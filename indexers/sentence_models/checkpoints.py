"""The state of a training between two epochs, in one safetensors file: weights, Adam's moments, the best.

Each epoch's order and dropout have a seed of their own, made from the schedule's seed and the epoch's
number: so that number is all that has to be kept of the random generators.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn

from pinakes.indexers.tensor_files import write_tensors

CHECKPOINT_FILE: Final = "checkpoint.safetensors"
_MOMENTS: Final = ("step", "exp_avg", "exp_avg_sq")

History = list[tuple[float | None, float]]


@dataclass(slots=True)
class Progressing:
    """Where a training stands; `best` are the weights of the epoch that is kept."""

    epoch: int = 0
    best_epoch: int = 0
    best_score: float = -1.0
    best_global: float = 0.0
    elapsed_s: float = 0.0
    history: History = field(default_factory=list)
    best: dict[str, Tensor] = field(default_factory=dict)

    def describe(self) -> dict[str, Any]:
        """What JSON can say of it."""
        return {name: value for name, value in asdict(self).items() if name != "best"}


def write_checkpoint(
    path: Path,
    network: nn.Module,
    adam: torch.optim.Adam,
    progress: Progressing,
    decided: Mapping[str, Any],
) -> None:
    """Write the state behind an epoch, with what `decided` the training; the old one is replaced whole."""
    moments = adam.state_dict()["state"]
    tensors = {f"weights.{name}": value for name, value in network.state_dict().items()}
    tensors |= {f"best.{name}": value for name, value in progress.best.items()}
    for number, (name, _) in enumerate(network.named_parameters()):
        tensors |= {f"{part}.{name}": moments[number][part] for part in _MOMENTS}
    write_tensors(path, tensors, {**decided, "progress": progress.describe()})


def restore_checkpoint(
    tensors: dict[str, Tensor], state: Mapping[str, Any], network: nn.Module, adam: torch.optim.Adam
) -> Progressing:
    """Put weights and moments back as they were written; where the training stood."""
    network.load_state_dict(_take(tensors, "weights."))
    names = [name for name, _ in network.named_parameters()]
    moments = {
        number: {part: tensors[f"{part}.{name}"] for part in _MOMENTS} for number, name in enumerate(names)
    }
    adam.load_state_dict({"state": moments, "param_groups": adam.state_dict()["param_groups"]})
    progress = Progressing(**state["progress"], best=_take(tensors, "best."))
    progress.history = [(score, loss) for score, loss in progress.history]
    return progress


def _take(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
