"""The figures of runs: what a suite takes as one figure of a benchmark, or its headline measure."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import EvaluationError
from pinakes.evaluate.evaluate import evaluate
from pinakes.progress import say_nothing
from pinakes.queries.definition import Benchmark
from pinakes.records import Score
from pinakes.schema import scores as stored_scores

_ALL: Final = "all"


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a run.

    Attributes:
        number: of the benchmark, from 1.
        measures: those that it is the mean of.
        value: a missing query counts as zero; unrounded.
        is_stored: whether it was scored before, of the same judgments, views, measures and code.
    """

    number: int
    measures: str
    value: float
    queries_expected: int
    queries_answered: int
    is_stored: bool


def score_figures(
    database: Database,
    benchmark: Benchmark,
    runs: Mapping[int, str],
    report: Callable[[str], None] = say_nothing,
) -> dict[int, list[Figure]]:
    """The figures of each run, by its id; `runs` are ids with the names of their systems.

    A run whose last evaluation by these measures was of the same judgments, views and code keeps its stored
    scores: no evaluation is added, and `report` is told.

    Raises:
        EvaluationError: a score that is averaged is missing.
    """
    wanted = _list_figures(benchmark)
    measures = sorted({measure for figure in wanted for _subset, measure in figure})
    made = evaluate(database, benchmark.name, run_ids=list(runs), measures=measures, only_changed=True)
    scored = {one.run_id: one.aggregates() for one in made}
    found = {}
    for run_id, system in runs.items():
        if run_id not in scored:
            report(f"score run {run_id} of {benchmark.name}: its stored scores are current")
        of_run = scored[run_id] if run_id in scored else _read_stored(database, run_id, measures)
        scores = {(one.subset, one.measure): one for one in of_run}
        missing = [key for figure in wanted for key in figure if key not in scores]
        if missing:
            raise EvaluationError(
                f"run {run_id} of {benchmark.name} by {system} has no {missing[0][1]} of {missing[0][0]}; "
                "expected it, since it is averaged."
            )
        found[run_id] = [
            _average(number, [scores[key] for key in figure], is_stored=run_id not in scored)
            for number, figure in enumerate(wanted, start=1)
        ]
    return found


def _average(number: int, parts: Sequence[Score], *, is_stored: bool) -> Figure:
    return Figure(
        number=number,
        measures=", ".join(dict.fromkeys(one.measure for one in parts)),
        value=math.fsum(one.value for one in parts) / len(parts),
        queries_expected=parts[0].queries_expected,
        queries_answered=parts[0].queries_answered,
        is_stored=is_stored,
    )


def _list_figures(benchmark: Benchmark) -> list[Sequence[tuple[str, str]]]:
    """The subsets and measures that each figure is the mean of; without a suite, the headline measure's."""
    if benchmark.suite is not None and benchmark.suite.figures:
        return list(benchmark.suite.figures)
    return [((_ALL, benchmark.headline_measure),)]


def _read_stored(database: Database, run_id: int, measures: Sequence[str]) -> list[Score]:
    """The stored scores of a run's subsets by these measures."""
    columns = [stored_scores.c[name] for name in Score.__dataclass_fields__]
    query = sa.select(*columns).where(
        stored_scores.c.run_id == run_id,
        stored_scores.c.query_id.is_(None),
        stored_scores.c.measure.in_(measures),
    )
    with database.read() as session:
        return [Score(**row) for row in session.rows(query)]
