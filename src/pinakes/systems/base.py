"""What a ranking system is: it indexes what a workload needs, says what it is, and ranks."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from pinakes.database import Database
from pinakes.errors import UnknownNameError
from pinakes.progress import Progress
from pinakes.workload.workload import Ids, Workload


@dataclass(frozen=True, slots=True)
class SystemDescription:
    """All that decides a system's scores, apart from the texts."""

    parameters: dict[str, Any]
    device: str
    encoder_id: int | None = None
    encoder_revision: str | None = None
    precision: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """One query's ranking, best first: rows of `Workload.paper_ids`, and their scores (float32)."""

    query_id: str
    rows: Ids
    scores: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class SystemOptions:
    """What a user may say about a system.

    Attributes:
        index_folder: where side indexes lie.
        precision: of an encoder: auto, fp32, bf16 or fp16.
        distance: how vectors are compared: cosine, l2 or inner_product; None: as the encoder's makers do, or
            cosine.
        device: cpu, cuda, or None for CUDA where there is one.
        through: how a search compares vectors: exact, pgvector or faiss:KIND; a run is always exact.
        parameters: the system's own options, name to value, as k1 and b.
        fixed: those of its options that a named baseline sets, and that nobody else may.
    """

    index_folder: Path
    precision: str = "auto"
    distance: str | None = None
    device: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    through: str = "exact"
    fixed: Mapping[str, str] = field(default_factory=dict)


def take_options(system: str, options: SystemOptions, defaults: Mapping[str, str]) -> dict[str, str]:
    """The system's own options, with the defaults for those that were not given.

    Raises:
        UnknownNameError: the system has no option of that name, or it is fixed; the message lists the others.
    """
    free = [name for name in defaults if name not in options.fixed]
    unknown = sorted(options.parameters.keys() - set(free))
    if unknown:
        raise UnknownNameError(f"option of {system}", unknown[0], free)
    return {**defaults, **options.fixed, **options.parameters}


def list_requested(options: SystemOptions) -> str:
    """The options that a user gave, as a command takes them.

    >>> list_requested(SystemOptions(Path(), parameters={"analysis": "words"}))
    ' --option analysis=words'
    """
    return "".join(f" --option {name}={value}" for name, value in options.parameters.items())


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """What indexing did: how many texts or papers were read now, and how many were there already."""

    system: str
    added: int
    existing: int
    elapsed_s: float


class System(Protocol):
    """One way to rank candidates."""

    name: str

    def index(self, database: Database, workload: Workload, progress: Progress) -> IndexSummary:
        """Make what ranking the workload needs; what is there already is not made again."""
        ...

    def describe(self, database: Database, workload: Workload) -> SystemDescription:
        """What decides the scores. Raises `RunError` with the command to run when an index is missing."""
        ...

    def rank(self, database: Database, workload: Workload, progress: Progress) -> Iterator[Ranking]:
        """The ranking of each query that has a text; `workload.benchmark.depth` papers at most."""
        ...


@runtime_checkable
class GroupRanker(Protocol):
    """A system that ranks all pools of a grouped workload at once, better than one after the other."""

    def rank_groups(self, database: Database, workload: Workload, progress: Progress) -> Iterator[Ranking]:
        """The ranking of each query that has a text, in its pool without its own paper.

        Rows are those of `workload.paper_ids`; `workload.benchmark.depth` papers at most.
        """
        ...
