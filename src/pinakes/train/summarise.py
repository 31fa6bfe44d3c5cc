"""What a draw has, in numbers: for whoever prints it."""

from collections.abc import Mapping
from dataclasses import dataclass

from pinakes.indexers.training.tasks import Objective
from pinakes.train.data import Draw


@dataclass(frozen=True, slots=True)
class TaskSummary:
    """One task of a draw.

    Attributes:
        classes: the names of its classes or labels, empty of the other objectives.
        texts: distinct texts of its papers and queries.
        train, validation: instances.
        left_out: why -> how many papers, queries, triplets or classes were left out.
        unjudged: triplets whose further paper is of the shared pool and was not judged for the query.
    """

    name: str
    format: str
    objective: Objective
    classes: tuple[str, ...]
    texts: int
    train: int
    validation: int
    left_out: Mapping[str, int]
    unjudged: int = 0


def summarise(draw: Draw) -> tuple[TaskSummary, ...]:
    """The tasks of a draw in their order; every item that was not drawn is counted with its reason."""
    return tuple(
        TaskSummary(
            name=drawn.task.name,
            format=drawn.task.format,
            objective=drawn.task.objective,
            classes=drawn.task.classes,
            texts=len(drawn.task.texts),
            train=len(drawn.task.train),
            validation=len(drawn.task.validation),
            left_out=drawn.left_out,
            unjudged=drawn.unjudged,
        )
        for drawn in draw.tasks
    )
