"""Which tasks a benchmark can have, and what a task says of a benchmark's folder."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol

from pinakes.errors import UnknownNameError

if TYPE_CHECKING:
    from pinakes.queries.definition import Benchmark

TASKS: Final[dict[str, str]] = {
    "classification": "pinakes.tasks.probing.task:CLASSIFICATION",
    "clustering": "pinakes.tasks.clustering.task:CLUSTERING",
    "ranking": "pinakes.tasks.ranking.task:RANKING",
    "regression": "pinakes.tasks.probing.task:REGRESSION",
    "reviewer_matching": "pinakes.tasks.reviewers.task:REVIEWERS",
    "self_retrieval": "pinakes.tasks.self_retrieval.task:SELF_RETRIEVAL",
    "sentence_extraction": "pinakes.tasks.extraction.task:SENTENCE_EXTRACTION",
}
"""name, as benchmark.toml says it -> "module:object" of a `pinakes.tasks.base.Task`"""

RANKING: Final = "ranking"
"""the task of a benchmark that names none"""


class TaskViews(Protocol):
    """The folder of a benchmark, as its task has it."""

    @property
    def views(self) -> Mapping[str, str]:
        """Each view that the folder gives as a file of SQL -> what it holds. A view may read earlier ones."""

    @property
    def settings(self) -> Sequence[str]:
        """The keys that benchmark.toml must have, besides those of every benchmark."""

    def list_columns(self, benchmark: "Benchmark", view: str) -> Sequence[str]:
        """The columns that a view must have."""


def resolve_task(name: str) -> Any:
    """The task of that name, a `pinakes.tasks.base.Task`; `UnknownNameError` lists the known ones."""
    if name not in TASKS:
        raise UnknownNameError("task", name, list(TASKS))
    module, _, member = TASKS[name].partition(":")
    return getattr(import_module(module), member)
