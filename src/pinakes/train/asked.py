"""Which tasks there are to draw: benchmarks with a split for training, and kinds of any corpus."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import BenchmarkError, InputError, UnknownNameError
from pinakes.indexers.training.tasks import Objective
from pinakes.queries.definition import Benchmark, list_benchmarks
from pinakes.schema import corpora
from pinakes.settings import Settings
from pinakes.workload.benchmark import open_benchmark

Drawing = Literal["labelled", "graded", "linked"]
Transform = Literal["scaled", "log"]

OBJECTIVES: Final[dict[str, str]] = {
    "classification": "classes",
    "regression": "number",
    "ranking": "triplets",
}
"""task of a benchmark -> what is trained on it"""


@dataclass(frozen=True, slots=True)
class Kind:
    """A task that any corpus can be asked for; its SQL is the file of its name.

    Attributes:
        drawing: whether papers have labels, a query's papers have grades, or papers are linked or not.
        made: tables that the file makes before all others.
        transform: what becomes of a number.
    """

    name: str
    format: str
    objective: Objective
    drawing: Drawing
    made: tuple[str, ...] = ()
    transform: Transform | None = None


KINDS: Final[dict[str, Kind]] = {
    kind.name: kind
    for kind in (
        Kind("citations", "PRX", "triplets", "linked", ("links",)),
        Kind("influential", "PRX", "triplets", "graded", ("mentions",)),
        Kind("same_author", "PRX", "triplets", "linked", ("persons", "blocks")),
        Kind("year", "RGN", "number", "labelled", transform="scaled"),
        Kind("citation_count", "RGN", "number", "labelled", transform="log"),
        Kind("fields", "CLF", "labels", "labelled"),
    )
}
"""name before the colon -> what it asks"""


@dataclass(frozen=True, slots=True)
class AskedTask:
    """One task to draw.

    Attributes:
        kind, corpus: of a task of any corpus, else None and empty.
        benchmark: of a benchmark's task, else None.
    """

    name: str
    format: str
    objective: Objective
    kind: Kind | None = None
    corpus: str = ""
    benchmark: Benchmark | None = None


def find_tasks(database: Database, names: Sequence[str], settings: Settings) -> list[AskedTask]:
    """The tasks of those names; the benchmarks among them are installed.

    Raises:
        UnknownNameError: no such benchmark, kind or corpus; the message lists the known ones.
        InputError: none is named, or one twice.
        BenchmarkError: the benchmark asks something that nothing is trained on.
    """
    if not names:
        raise InputError("no task is named; expected at least one to draw, as citations:CORPUS.")
    again = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if again is not None:
        raise InputError(f"the task {again} is named twice; expected each once.")
    with database.read() as session:
        loaded = [
            str(row["name"]) for row in session.rows(sa.select(corpora.c.name).order_by(corpora.c.name))
        ]
    return [
        _find_of_corpus(name, loaded) if ":" in name else _find_of_benchmark(database, name, settings)
        for name in names
    ]


def _find_of_corpus(name: str, loaded: Sequence[str]) -> AskedTask:
    before, _, corpus = name.partition(":")
    if before not in KINDS:
        raise UnknownNameError("kind of training task", before, list(KINDS))
    if corpus not in loaded:
        raise UnknownNameError("corpus", corpus, loaded, "`pinakes load` loads one.")
    kind = KINDS[before]
    return AskedTask(name, kind.format, kind.objective, kind=kind, corpus=corpus)


def _find_of_benchmark(database: Database, name: str, settings: Settings) -> AskedTask:
    known = list_benchmarks(settings.benchmark_folders)
    if name not in known:
        hint = f"Of any corpus: {', '.join(f'{kind}:CORPUS' for kind in KINDS)}"
        raise UnknownNameError("training task", name, known, hint)
    benchmark = open_benchmark(database, name, settings)
    if benchmark.task not in OBJECTIVES:
        raise BenchmarkError(
            f"{name} has the task {benchmark.task}; expected one of {', '.join(OBJECTIVES)} to train on."
        )
    if benchmark.task == "classification":
        return AskedTask(
            name, "CLF", "labels" if benchmark.probe.get("multi_label") else "classes", benchmark=benchmark
        )
    if benchmark.task == "regression":
        return AskedTask(name, "RGN", "number", benchmark=benchmark)
    if benchmark.format not in ("PRX", "SRCH"):
        raise BenchmarkError(
            f"{name} has the format {benchmark.format}; expected PRX or SRCH as `format` in benchmark.toml."
        )
    return AskedTask(name, benchmark.format, "triplets", benchmark=benchmark)
