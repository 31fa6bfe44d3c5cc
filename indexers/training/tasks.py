"""What an encoder is trained on: texts, and the instances of a task over them, as columns."""

import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import IndexingError

Objective = Literal["classes", "labels", "number", "triplets"]
"""Cross entropy over classes, binary cross entropy over labels, squared error, or the triplet loss."""
FORMATS: Final[dict[str, tuple[Objective, ...]]] = {
    "CLF": ("classes", "labels"),
    "RGN": ("number",),
    "PRX": ("triplets",),
    "SRCH": ("triplets",),
}
"""a task's format -> what can be asked in it (SciRepEval, section 3)"""
CODES: Final = ("CLF", "RGN", "PRX", "QRY")
"""the codes of table 6; a search has QRY before its queries and PRX before its papers"""


@dataclass(frozen=True, slots=True)
class Instances:
    """Instances of a task, in the order in which they were drawn.

    Attributes:
        texts: (n,) for a label, (n, 3) for a triplet: rows of the task's texts; of a triplet the query, the
            paper that is nearer and the one that is further.
        targets: `classes`: (n,) class numbers; `labels`: (n, classes) 0 or 1; `number`: (n,) float64;
            `triplets`: (n, 0), nothing.
    """

    texts: NDArray[np.int64]
    targets: NDArray[np.int64] | NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True, slots=True)
class TrainingTask:
    """One task of a training.

    Attributes:
        name: what it is called, as `scirepeval_fos` or `citations:aan`.
        format: CLF, RGN, PRX or SRCH.
        texts: what its papers and queries say, each once.
        classes: the names of classes or labels, byte by byte ascending; empty for the others.
        train, validation: instances; no paper that is asked for in a test is in either.
        group: the code that all its texts have, in place of those of its format; empty: the format's.
    """

    name: str
    format: str
    objective: Objective
    texts: Sequence[str]
    classes: tuple[str, ...]
    train: Instances
    validation: Instances
    group: str = ""

    def codes(self) -> tuple[str, ...]:
        """The code of each text of an instance.

        >>> empty = Instances(np.empty((0, 3), np.int64), np.empty((0, 0), np.int64))
        >>> TrainingTask("s", "SRCH", "triplets", [], (), empty, empty).codes()
        ('QRY', 'PRX', 'PRX')
        """
        if self.group:
            return (self.group,) * (3 if self.objective == "triplets" else 1)
        if self.objective == "triplets":
            return ("QRY" if self.format == "SRCH" else "PRX", "PRX", "PRX")
        return (self.format,)


def list_codes(tasks: Sequence[TrainingTask]) -> tuple[str, ...]:
    """The codes of the formats of tasks, in the order of `CODES`."""
    return tuple(code for code in CODES if any(code in task.codes() for task in tasks))


def group_randomly(tasks: Sequence[TrainingTask], seed: int) -> list[TrainingTask]:
    """The tasks in as many groups as their formats have codes, by the seed and their names.

    Groups are as equal in size as they can be. It is the paper's control (section 7): whether formats are
    better groups than any others.

    >>> empty = Instances(np.empty((0, 3), np.int64), np.empty((0, 0), np.int64))
    >>> named = [TrainingTask(name, "SRCH", "triplets", [], (), empty, empty) for name in "abc"]
    >>> [task.group for task in group_randomly(named, 2)]
    ['QRY', 'PRX', 'PRX']
    """
    codes = list_codes(tasks)
    order = sorted(tasks, key=lambda task: hashlib.sha256(f"{seed}:{task.name}".encode()).digest())
    groups = {task.name: codes[place % len(codes)] for place, task in enumerate(order)}
    return [replace(task, group=groups[task.name]) for task in tasks]


def require_trainable(tasks: Sequence[TrainingTask]) -> None:
    """Raise `IndexingError` for what cannot be trained on: no task, no instance, one class, no number."""
    if not tasks:
        raise IndexingError("no task is named; expected at least one to train on. Name some with --tasks")
    names = [task.name for task in tasks]
    again = next((name for name in names if names.count(name) > 1), None)
    if again is not None:
        raise IndexingError(f"the task {again} is named twice; expected each once. Name it once")
    for task in tasks:
        _require_instances(task)


def _require_instances(task: TrainingTask) -> None:
    allowed = FORMATS.get(task.format, ())
    if task.objective not in allowed:
        raise IndexingError(
            f"the task {task.name} has the format {task.format} and asks for {task.objective}; expected "
            f"{' or '.join(allowed) or 'a format among ' + ', '.join(FORMATS)}. Correct its definition"
        )
    if not len(task.train):
        raise IndexingError(
            f"the task {task.name} has no instance to train on; expected papers or queries of a train split. "
            "Load its training data, or leave it out"
        )
    least = {"classes": 2, "labels": 1}.get(task.objective, 0)
    if len(task.classes) < least:
        raise IndexingError(
            f"the task {task.name} has {len(task.classes)} classes; expected at least {least}, since fewer "
            "teach nothing. Leave it out"
        )
    for part in (task.train, task.validation):
        if not np.isfinite(part.targets).all():
            raise IndexingError(
                f"the task {task.name} has a target that is infinite or no number; expected finite ones. "
                "Correct the label in the corpus"
            )


def average_by_format(formats: Sequence[str], losses: Sequence[float | None]) -> dict[str, float]:
    """The mean of the tasks' losses for each format that has one.

    >>> average_by_format(["CLF", "CLF", "RGN", "PRX"], [1.0, 2.0, 4.0, None])
    {'CLF': 1.5, 'RGN': 4.0}
    """
    found: dict[str, list[float]] = {}
    for name, loss in zip(formats, losses, strict=True):
        if loss is not None:
            found.setdefault(name, []).append(loss)
    return {name: sum(values) / len(values) for name, values in found.items()}


def find_stopped(validation: Sequence[Mapping[str, float]], patience: int) -> dict[str, int]:
    """Each format whose validation loss was no lower for `patience` epochs, with the epoch, from 1, of that.

    `validation` has the losses by format of each epoch. A format that stopped does not begin again.

    >>> find_stopped([{"CLF": 2.0, "RGN": 2.0}, {"CLF": 3.0, "RGN": 1.0}, {"CLF": 1.0, "RGN": 0.5}], 1)
    {'CLF': 2}
    """
    lowest: dict[str, tuple[float, int]] = {}
    stopped: dict[str, int] = {}
    for epoch, losses in enumerate(validation, start=1):
        for name, loss in losses.items():
            if name not in lowest or loss < lowest[name][0]:
                lowest[name] = (loss, epoch)
            elif 0 < patience <= epoch - lowest[name][1]:
                stopped.setdefault(name, epoch)
    return stopped


def find_best(validation: Sequence[Mapping[str, float]]) -> int:
    """The first epoch, from 1, with the lowest mean over formats; 0: there is no loss that is a number.

    `validation` has the losses by format of each epoch, of the same formats in all.

    >>> find_best([{"CLF": 2.0, "RGN": 2.0}, {"CLF": 3.0, "RGN": 0.5}])
    2
    """
    best, lowest = 0, math.inf
    for epoch, losses in enumerate(validation, start=1):
        total = sum(losses.values())
        if losses and total < lowest:
            best, lowest = epoch, total
    return best


def group_by_weights(weights: Sequence[Collection[str]]) -> dict[tuple[int, ...], set[str]]:
    """The numbers of tasks that share weights, also by way of others, with the names of all their weights.

    `weights` has the names of those that each task trains. The numbers of a group ascend.

    >>> groups = group_by_weights([["clf"], ["prx"], ["qry", "prx"]])
    >>> {tasks: sorted(names) for tasks, names in groups.items()}
    {(0,): ['clf'], (1, 2): ['prx', 'qry']}
    """
    groups: dict[tuple[int, ...], set[str]] = {}
    for number, names in enumerate(weights):
        tasks, held = [number], set(names)
        for others in [one for one, found in groups.items() if not held.isdisjoint(found)]:
            tasks += others
            held |= groups.pop(others)
        groups[tuple(sorted(tasks))] = held
    return groups
