"""Trained encoders, their base and other systems on the same benchmarks: means over the seeds of a training.

SciRepEval, tables 2 and 3, with what the paper does not print: how far a figure moves with the seed.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Final

import numpy as np

from pinakes.database import Database
from pinakes.errors import InputError
from pinakes.evaluate.figures import score_figures
from pinakes.evaluate.method_groups import (
    IN_TRAIN,
    OUT_OF_TRAIN,
    Method,
    average_seeds,
    group_systems,
    open_formatted,
    read_trainings,
)
from pinakes.evaluate.suite import run_indexed
from pinakes.evaluators.significance import compare_all, holm
from pinakes.indexers.encoder.trained import TrainingRecord
from pinakes.progress import Progress, say_nothing
from pinakes.queries.definition import FORMATS, MODES, Benchmark
from pinakes.run.run import RunRequest
from pinakes.systems.base import SystemOptions
from pinakes.workload.benchmark import find_index_folder

AVERAGE: Final = "average"


@dataclass(frozen=True, slots=True)
class MethodsRequest:
    """Which systems are compared on which benchmarks.

    Attributes:
        in_train: those of the benchmarks that count as in-train, beside what a training of `systems` drew
            from.
        mode: one of `queries.definition.MODES`.
    """

    systems: Sequence[str]
    benchmarks: Sequence[str]
    in_train: Sequence[str] = ()
    options: SystemOptions | None = None
    mode: str = MODES[0]


@dataclass(frozen=True, slots=True)
class FigureValue:
    """A figure of one system: the mean of the scores that a suite takes as one, or the headline measure.

    Attributes:
        part: `in-train` or `out-of-train`.
        figure: of the benchmark, from 1; `measures` are those that it is the mean of.
        value: a missing query counts as zero; unrounded.
        is_stored: whether it was scored before, of the same judgments, views, measures and code.
    """

    method: str
    seed: str
    system: str
    benchmark: str
    format: str
    part: str
    figure: int
    measures: str
    value: float
    run_id: int
    queries_expected: int
    queries_answered: int
    is_stored: bool = False


@dataclass(frozen=True, slots=True)
class MethodMean:
    """The mean of a method over its seeds, of the average over some figures.

    Attributes:
        column: `in-train`, `out-of-train`, `average` (all figures), or one of the two with a format behind.
        figures: how many are averaged, each counting once.
        low, high: the t interval at 95 % over seeds; None of a single one.
    """

    method: str
    column: str
    figures: int
    seeds: int
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class MethodDifference:
    """Method b minus method a, over seeds: paired by seed, or against the one value of a system without.

    Attributes:
        low, high, p, holm_p: Student's t; None where the two were not trained with the same seeds, or no
            seed twice. Holm's correction is over the pairs of a column.
    """

    column: str
    a: str
    b: str
    difference: float
    low: float | None
    high: float | None
    p: float | None
    holm_p: float | None


@dataclass(frozen=True, slots=True)
class MethodComparison:
    """All that is said of the methods.

    Attributes:
        trainings: what the folders of the trained encoders say, each once.
    """

    methods: Sequence[Method]
    figures: Sequence[FigureValue]
    means: Sequence[MethodMean]
    differences: Sequence[MethodDifference]
    trainings: Sequence[TrainingRecord]

    @property
    def warnings(self) -> list[str]:
        """What a reader must know before comparing: who has no answer to some queries or test papers."""
        missing = {
            (one.system, one.benchmark): one.queries_expected - one.queries_answered for one in self.figures
        }
        return [
            f"{system} has no answer to {count:,} queries or test papers of {benchmark}; each counts as zero."
            for (system, benchmark), count in missing.items()
            if count
        ]


def compare_methods(
    database: Database,
    request: MethodsRequest,
    *,
    progress: Progress | None = None,
    report: Callable[[str], None] = say_nothing,
) -> MethodComparison:
    """Index, run and score every benchmark by every system, and compare methods.

    Indexes and runs that are there are not made again. A run whose last evaluation by these measures was of
    the same judgments, views and code keeps its stored scores: no evaluation is added.

    Raises:
        InputError: fewer than two systems or no benchmark is named, or one twice; an in-train benchmark is
            none of them; two systems are of the same training and seed.
        BenchmarkError: a benchmark has no format.
        RunError, EvaluationError: a system cannot be run on a benchmark, or a score is missing.
    """
    _check_names(request)
    benchmarks = open_formatted(database, request.benchmarks, request.in_train)
    trained = {system: read_trainings(system) for system in request.systems}
    methods = group_systems(trained)
    drawn = {task for records in trained.values() for one in records for task in one.tasks}
    in_train = drawn | set(request.in_train)
    options = request.options or SystemOptions(find_index_folder(database))
    figures = [
        value
        for benchmark in benchmarks
        for method in methods
        for seed, system in zip(method.seeds, method.systems, strict=True)
        for value in _score(
            database,
            benchmark,
            ask_by_group(
                RunRequest(benchmark.name, system, options, mode=request.mode), trained[system], options
            ),
            (method.name, seed, IN_TRAIN if benchmark.name in in_train else OUT_OF_TRAIN),
            progress,
            report,
        )
    ]
    return MethodComparison(
        methods,
        figures,
        list(average_methods(methods, figures)),
        compare_pairs(methods, figures),
        list({one.folder: one for records in trained.values() for one in records}.values()),
    )


def _check_names(request: MethodsRequest) -> None:
    if len(request.systems) < 2 or not request.benchmarks:
        raise InputError("expected two systems or more, and one benchmark or more.")
    for what, names in (("system", request.systems), ("benchmark", request.benchmarks)):
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise InputError(f"the {what} {twice[0]} is named twice; expected each once.")


def ask_by_group(
    request: RunRequest, records: Sequence[TrainingRecord], options: SystemOptions
) -> RunRequest:
    """The run; an encoder of random groups answers a task that it was trained on by the code of its group."""
    group = records[0].groups.get(request.benchmark) if len(records) == 1 else None
    return request if group is None else replace(request, options=replace(options, format=group))


def _score(
    database: Database,
    benchmark: Benchmark,
    request: RunRequest,
    place: tuple[str, str, str],
    progress: Progress | None,
    report: Callable[[str], None],
) -> list[FigureValue]:
    made = run_indexed(database, request, progress, report)
    method, seed, part = place
    return [
        FigureValue(
            method=method,
            seed=seed,
            system=request.system,
            benchmark=benchmark.name,
            format=str(benchmark.format),
            part=part,
            figure=one.number,
            measures=one.measures,
            value=one.value,
            run_id=made.run_id,
            queries_expected=one.queries_expected,
            queries_answered=one.queries_answered,
            is_stored=one.is_stored,
        )
        for one in score_figures(database, benchmark, {made.run_id: request.system}, report)[made.run_id]
    ]


def average_methods(methods: Sequence[Method], figures: Sequence[FigureValue]) -> Iterable[MethodMean]:
    """The means of each method in each column that there is a figure of."""
    for column in list_columns(figures):
        for method in methods:
            values = _list_seeds(method, figures, column)
            count = len({(one.benchmark, one.figure) for one in figures if _is_of(one, column)})
            mean, low, high = average_seeds(values)
            yield MethodMean(method.name, column, count, len(values), mean, low, high)


def list_columns(figures: Sequence[FigureValue]) -> list[str]:
    """What is averaged: the two parts and all, then each part by format, where there are figures."""
    parts = [part for part in (IN_TRAIN, OUT_OF_TRAIN) if any(one.part == part for one in figures)]
    by_format = [
        f"{part} {format}"
        for part in parts
        for format in FORMATS
        if any(one.part == part and one.format == format for one in figures)
    ]
    return [*parts, AVERAGE, *by_format]


def _is_of(figure: FigureValue, column: str) -> bool:
    return column in (AVERAGE, figure.part, f"{figure.part} {figure.format}")


def _list_seeds(method: Method, figures: Sequence[FigureValue], column: str) -> dict[str, list[float]]:
    """Seed -> the figures of a column."""
    values: dict[str, list[float]] = {seed: [] for seed in method.seeds}
    for one in figures:
        if one.method == method.name and _is_of(one, column):
            values[one.seed].append(one.value)
    return values


def compare_pairs(methods: Sequence[Method], figures: Sequence[FigureValue]) -> list[MethodDifference]:
    """Every pair of methods in the two parts and on average."""
    found = []
    for column in list_columns(figures):
        if column in (IN_TRAIN, OUT_OF_TRAIN, AVERAGE):
            found += _compare_column(methods, figures, column)
    return found


def _compare_column(
    methods: Sequence[Method], figures: Sequence[FigureValue], column: str
) -> list[MethodDifference]:
    values = {
        method.name: {
            seed: math.fsum(listed) / len(listed)
            for seed, listed in _list_seeds(method, figures, column).items()
        }
        for method in methods
    }
    pairs = list(combinations([method.name for method in methods], 2))
    differences = [_pair_seeds(values[a], values[b]) for a, b in pairs]
    tested = [one for one in differences if one is not None]
    results = iter(compare_all(tested, seed=0))
    compared = [next(results) if one is not None else None for one in differences]
    corrected = iter(holm([one.t_test_p for one in compared if one is not None]))
    found = []
    for (a, b), one in zip(pairs, compared, strict=True):
        low, high = one.interval if one is not None else (None, None)
        means = {name: math.fsum(values[name].values()) / len(values[name]) for name in (a, b)}
        found.append(
            MethodDifference(
                column,
                a,
                b,
                means[b] - means[a],
                low,
                high,
                one.t_test_p if one is not None else None,
                next(corrected) if one is not None else None,
            )
        )
    return found


def _pair_seeds(a: Mapping[str, float], b: Mapping[str, float]) -> Any:
    """The differences b - a (seeds,) that are tested; None where there are not two of them.

    What was not trained here has one value, the same for every seed.
    """
    if set(a) == set(b):
        seeds, of_a, of_b = list(a), a, b
    elif set(a) == {""}:
        seeds, of_a, of_b = list(b), dict.fromkeys(b, a[""]), b
    elif set(b) == {""}:
        seeds, of_a, of_b = list(a), a, dict.fromkeys(a, b[""])
    else:
        return None
    if len(seeds) < 2:
        return None
    return np.array([of_b[seed] - of_a[seed] for seed in seeds])
