"""What a draw is asked and what it gives: tasks, with how many instances were left out and why."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import orjson
import pyarrow as pa

from pinakes.errors import InputError
from pinakes.indexers.training.tasks import TrainingTask

TRAIN = "train"
VALIDATION = "validation"


@dataclass(frozen=True, slots=True)
class DrawOptions:
    """How instances are drawn.

    Attributes:
        seed: which of the possible draws: it goes into every md5 that orders papers and queries.
        most: the greatest number of instances of a task to train on.
        triplets_per_query: the greatest number of triplets of a query.
        validation: the share of papers and queries that validate, at least 0 and below 1.
        held_out: further benchmarks that nothing may be drawn of that their tests ask for.
    """

    seed: int
    most: int = 600_000
    triplets_per_query: int = 5
    validation: float = 0.1
    held_out: tuple[str, ...] = ()

    def check(self) -> None:
        """Raise `InputError` for a number that cannot be."""
        if self.most < 1 or self.triplets_per_query < 1:
            raise InputError(
                f"most is {self.most} and triplets_per_query {self.triplets_per_query}; expected 1 or more."
            )
        if not 0 <= self.validation < 1:
            raise InputError(
                f"validation is {self.validation}; expected a share of at least 0 and below 1, as 0.1."
            )

    @property
    def most_validation(self) -> int:
        """The greatest number of instances that validate, in proportion to those that train."""
        return round(self.most * self.validation / (1 - self.validation))

    @property
    def edge(self) -> str:
        """The md5, written as a UUID, below which a paper or a query validates."""
        digits = f"{int(self.validation * 2**53) << 75:032x}"
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


@dataclass(frozen=True, slots=True)
class DrawnTask:
    """A task as it was drawn.

    Attributes:
        task: what is trained on.
        left_out: why -> how many papers, queries or triplets were left out; in the words of a report.
        instances: a row each, as `training_instances` has them but for the training and the task.
        unjudged: triplets whose further paper is of the shared pool and was not judged for the query.
    """

    task: TrainingTask
    left_out: Mapping[str, int]
    instances: pa.Table
    unjudged: int = 0


@dataclass(frozen=True, slots=True)
class Draw:
    """All tasks of a draw.

    Attributes:
        digest: sha256 over the texts, classes and instances of all tasks: alike on both databases.
    """

    names: tuple[str, ...]
    options: DrawOptions
    tasks: tuple[DrawnTask, ...]

    @property
    def digest(self) -> str:
        """What tells this draw from another."""
        digest = hashlib.sha256()
        for drawn in self.tasks:
            _digest_task(digest, drawn.task)
        return digest.hexdigest()


def _digest_task(digest: "hashlib._Hash", task: TrainingTask) -> None:
    head = [task.name, task.format, task.objective, list(task.classes), len(task.texts)]
    digest.update(orjson.dumps(head))
    for text in task.texts:
        encoded = text.encode()
        digest.update(b"%d:" % len(encoded) + encoded)
    for part in (task.train, task.validation):
        digest.update(orjson.dumps([part.texts.shape, part.targets.shape]))
        digest.update(part.texts.tobytes() + part.targets.tobytes())
