"""What a task is: it reads a benchmark's questions, has a system answer them, and scores the answers.

`run` and `evaluate` do for every task what is the same: find the run that exists, store answers and scores.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Database
from pinakes.errors import EvaluationError, InputError
from pinakes.progress import Progress
from pinakes.queries.definition import Benchmark
from pinakes.queries.tasks import TASKS, resolve_task
from pinakes.records import Score
from pinakes.schema import runs

MOST_NAMED: Final = 100
"""how many queries an error names at the most; it counts all"""

ScoreRun = Callable[[int], list[Score]]
"""gives the scores of the run with that id: of single queries, then of subsets of them"""
Resampled = Mapping[tuple[str, str], NDArray[np.float64]]
"""subset and measure, as in `scores` -> the value in each resample (samples,)"""
ResampleRun = Callable[[int], Resampled]
"""gives what the run with that id is worth in each resample; the same resamples for every run"""
Answers = Iterator[tuple[sa.Table, pa.Table]]
"""rows of tables"""


@dataclass(frozen=True, slots=True)
class Unjudged:
    """The queries of a benchmark that no answer can be scored by.

    Attributes:
        query_ids: those without a judgment, by id.
        asked: how many queries there are, judged or not.
    """

    query_ids: Sequence[str]
    asked: int


@dataclass(frozen=True, slots=True)
class Deciding:
    """What decides the scores of a benchmark's runs besides their answers, as selects.

    Attributes:
        judged: `query_id`, `item` and `value`: what is held against the answers.
        others: what else scores depend on, of whatever columns: the groups of queries, candidate types.
        named: what a row of `judged` is called, in the plural.
    """

    judged: sa.Select[Any]
    others: Sequence[sa.Select[Any]] = ()
    named: str = "judgments"


class Questions(Protocol):
    """What a run asks: read from a benchmark's views, with all that decides the answers."""

    @property
    def benchmark(self) -> Benchmark:
        """The benchmark that asks."""

    @property
    def query_template(self) -> str | None:
        """The text template that queries are read with; None where they have no text."""

    @property
    def paper_template(self) -> str | None:
        """The text template that papers are read with."""

    @property
    def digest(self) -> str:
        """sha256 over all that is asked; the same on both databases, whatever our ids of the papers are."""

    @property
    def queries_expected(self) -> int:
        """How many answers are expected, as `queries_expected` of `runs`."""

    @property
    def candidates_expected(self) -> int:
        """How many papers are asked about, as `candidates_expected` of `runs`."""

    @property
    def candidates_without_text(self) -> int:
        """Of these, how many have no text."""


@dataclass(frozen=True, slots=True)
class Task:
    """One kind of question that benchmarks ask.

    Attributes:
        name: as benchmark.toml says it.
        needs: what a system must be able to do, as `System.can` says it: one of these.
        answers: the table of the answers: `run_id`, `query_id` and columns of the task's own.
        select_deciding: gives what decides scores besides the answers. It is digested: where the digest is
            another, `pinakes evaluate --changed` scores a run again.
        facts: further tables of what is known of a run: `run_id` and columns of the task's own.
        views: each view that the folder of a benchmark gives as a file of SQL -> what it holds. A view may
            read earlier ones.
        settings: the keys that benchmark.toml must have, besides those of every benchmark.
        scored_view: the view whose rows have a value each: `query_id` and the benchmark's grouping columns.
        list_columns: gives the columns that a view of a benchmark must have.
        read: gives the questions of an installed benchmark, read with a template for queries and one for
            papers. Raises `BenchmarkError` where a view gives what it must not.
        answer: gives the answers of a system that has the capability: rows of `answers`, and of `facts`,
            without `run_id`, with the table that they are of; those of one table have one schema, where a
            column may be a dictionary of its values. Raises `RunError` where an answer cannot be stored.
        name_measure: gives the name that the scores of a measure carry. Raises `UnknownNameError`.
        open_scoring: gives what scores runs of a benchmark by some measures; judgments are read once. A query
            that a run does not answer is worth zero. Raises `EvaluationError` where it cannot be scored.
        open_resampling: gives what values runs over resamples of the test papers, drawn by
            `pinakes.evaluators.bootstrap.Resampling(benchmark.name, papers)`. None where values are means
            over single queries, whose scores are resampled.
        choose: gives an installed benchmark, whose mode is set, with the corpus and the producer of variants
            that a user names, or not, of a task whose benchmarks read any corpus. None: they name their own.
            Raises `InputError`, `UnknownNameError` or `BenchmarkError` where they cannot be asked.
        distance: the one that vectors are compared by; None: any.
        find_unjudged: gives the queries that no answer can be scored by. None: there can be none.
        prefers_lower: whether a lower value of a measure, by the name that its scores carry, is better. Only
            gates ask for it: the tables that mark the best are of measures whose higher values are better.
    """

    name: str
    needs: tuple[str, ...]
    answers: sa.Table
    views: Mapping[str, str]
    settings: Sequence[str]
    scored_view: str
    list_columns: Callable[[Benchmark, str], Sequence[str]]
    read: Callable[[Database, Benchmark, str, str], Questions]
    answer: Callable[[Database, Any, Any, Progress], Answers]
    name_measure: Callable[[str], str]
    open_scoring: Callable[[Database, Benchmark, Sequence[str]], ScoreRun]
    select_deciding: Callable[[Benchmark], Deciding]
    facts: tuple[sa.Table, ...] = ()
    open_resampling: Callable[[Database, Benchmark, Sequence[str]], ResampleRun] | None = None
    choose: Callable[[Database, Benchmark, str | None, str | None], Benchmark] | None = None
    distance: str | None = None
    find_unjudged: Callable[[Database, Benchmark], Unjudged] | None = None
    prefers_lower: Callable[[str], bool] = lambda _measure: False


def find_task(benchmark: Benchmark) -> Task:
    """The task of a benchmark."""
    task: Task = resolve_task(benchmark.task)
    return task


def choose_corpus(
    database: Database, benchmark: Benchmark, corpus: str | None, producer: str | None = None
) -> Benchmark:
    """The benchmark, asked of a corpus and with a producer's variants, where its task lets a user say so.

    Raises `InputError` where the benchmark names its corpus itself, and as `Task.choose` does.
    """
    task = find_task(benchmark)
    if task.choose is not None:
        return task.choose(database, benchmark, corpus, producer)
    if producer is not None:
        raise InputError(f"{benchmark.name} asks with no variants of papers; leave --producer out.")
    if corpus is not None:
        own = f"reads the corpus {benchmark.corpus}" if benchmark.corpus else "is sampled from its corpus"
        other = (
            f"`pinakes use-corpus {benchmark.name} {corpus}` has it read another"
            if benchmark.other_corpora
            else "no other can be named"
        )
        raise InputError(f"{benchmark.name} {own}; {other}. Leave --corpus out.")
    return benchmark


def find_unjudged(database: Database, benchmark: Benchmark) -> Unjudged:
    """The benchmark's queries that no answer can be scored by: they are left out of every score."""
    task = find_task(benchmark)
    return Unjudged([], 0) if task.find_unjudged is None else task.find_unjudged(database, benchmark)


def refuse_unjudged(benchmark: Benchmark, found: Unjudged) -> None:
    """Raise `EvaluationError`, which names the unjudged queries, where the benchmark has them for errors."""
    if found.query_ids and benchmark.unjudged == "error":
        raise EvaluationError(
            f"{describe_unjudged(found, MOST_NAMED)}, and {benchmark.name}/benchmark.toml says that this is "
            "an error; load their judgments, or take `unjudged` out of it."
        )


def check_judged(database: Database, benchmark: Benchmark) -> None:
    """Before answers are made: the same, where the benchmark asks for it."""
    if benchmark.unjudged == "error":
        refuse_unjudged(benchmark, find_unjudged(database, benchmark))


def describe_unjudged(found: Unjudged, named: int = 5) -> str:
    """How many queries have no judgment, and the first of them by name.

    >>> describe_unjudged(Unjudged(["q1", "q10", "q2"], 9), 2)
    '3 of 9 queries have no judgment (q1, q10, …)'
    """
    names = ", ".join([*found.query_ids[:named], *(["…"] if len(found.query_ids) > named else [])])
    return f"{len(found.query_ids)} of {found.asked} queries have no judgment ({names})"


def check_distance(benchmark: Benchmark, distance: str | None) -> None:
    """Raise `InputError` where vectors would be compared by another distance than the task's one."""
    task = find_task(benchmark)
    if task.distance is not None and distance not in (None, task.distance):
        raise InputError(
            f"{benchmark.name} compares vectors by {task.distance}, not by {distance}; leave --distance out."
        )


def read_mode(database: Database, run_id: int) -> str:
    """The mode of a stored run: corrected or published."""
    with database.read() as session:
        return str(session.scalar(sa.select(runs.c.mode).where(runs.c.run_id == run_id)))


def list_tasks() -> list[Task]:
    """Every task that there is."""
    return [resolve_task(name) for name in TASKS]
