"""Each code's embedding on the benchmarks of each format: what a code of its own for each format is worth.

SciRepEval, table 4. In the column QRY a search is asked as it should be, its queries as QRY and its
candidates as PRX; whether the paper's column is that, or QRY for both, it does not say.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

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
from pinakes.progress import Progress, say_nothing
from pinakes.queries.definition import FORMATS, MODES, Benchmark
from pinakes.run.run import RunRequest
from pinakes.systems.base import SystemOptions
from pinakes.workload.benchmark import find_index_folder
from pinakes.workload.readers import CODES, list_codes


@dataclass(frozen=True, slots=True)
class CrossFormatRequest:
    """Which systems are run on which benchmarks.

    Attributes:
        systems: one, or trained encoders that differ in their seed alone.
        in_train: those of the benchmarks that count as in-train, beside what the trainings drew from.
        mode: one of `queries.definition.MODES`.
    """

    systems: Sequence[str]
    benchmarks: Sequence[str]
    in_train: Sequence[str] = ()
    options: SystemOptions | None = None
    mode: str = MODES[0]


@dataclass(frozen=True, slots=True)
class CodeScore:
    """A figure of a benchmark by the embedding of one code of one system, as `compare-methods` has it.

    Attributes:
        seed: of the system's training; empty: it was not trained here.
        group: of trained encoders in-train or out-of-train, else the benchmark's group in its suite; empty:
            it is in none.
        figure: of the benchmark, from 1; `measure` has those that it is the mean of.
        value: a missing query counts as zero; unrounded.
        own: whether the code is that of the benchmark's format.
        best: whether no other code's value of the system is larger.
    """

    system: str
    seed: str
    benchmark: str
    format: str
    group: str
    code: str
    figure: int
    measure: str
    value: float
    run_id: int
    queries_expected: int
    queries_answered: int
    own: bool
    best: bool


@dataclass(frozen=True, slots=True)
class CodeMean:
    """A code's mean over seeds, of a figure or of all of a format in one group, each counting once.

    Attributes:
        benchmark: empty, and `figure` 0: a mean of `figures` of them.
        low, high: the t interval at 95 % over seeds; None of a single one.
        best: whether no other code's mean of the row is larger.
    """

    format: str
    group: str
    benchmark: str
    figure: int
    code: str
    value: float
    low: float | None
    high: float | None
    seeds: int
    figures: int
    own: bool
    best: bool


def cross_format(
    database: Database,
    request: CrossFormatRequest,
    *,
    progress: Progress | None = None,
    report: Callable[[str], None] = say_nothing,
) -> list[CodeScore]:
    """The scores of every benchmark by every code, in the order of benchmarks, seeds and codes.

    Indexes and runs that are there are not made again.

    Raises:
        InputError: no benchmark is named, or one twice; an in-train one is none of them; the systems are not
            of one training; or one has one embedding for all formats.
        BenchmarkError: a benchmark has no format.
        RunError: a system cannot be run on a benchmark.
    """
    if not request.benchmarks or len(set(request.benchmarks)) < len(request.benchmarks):
        raise InputError("expected one benchmark or more, each once.")
    trained = {system: read_trainings(system) for system in request.systems}
    methods = group_systems(trained)
    if len(methods) != 1 or len(set(request.systems)) < len(request.systems):
        raise InputError(
            "expected one system, or trained encoders that differ in their seed alone, each once."
        )
    benchmarks = open_formatted(database, request.benchmarks, request.in_train)
    drawn = {task for records in trained.values() for one in records for task in one.tasks}
    in_train = drawn | set(request.in_train)

    def find_group(benchmark: Benchmark) -> str:
        if drawn or request.in_train:
            return IN_TRAIN if benchmark.name in in_train else OUT_OF_TRAIN
        return benchmark.suite.group if benchmark.suite else ""

    options = request.options or SystemOptions(find_index_folder(database))

    def run_code(benchmark: Benchmark, system: str, code: str) -> int:
        forced = benchmark.format if _is_own(benchmark.format, code) else code
        asked = RunRequest(benchmark.name, system, replace(options, format=forced), mode=request.mode)
        return run_indexed(database, asked, progress, report).run_id

    return [
        replace(score, group=find_group(benchmark))
        for benchmark in benchmarks
        for score in _score_seeds(database, benchmark, methods[0], run_code, report)
    ]


def average_figures(scores: Sequence[CodeScore]) -> list[CodeMean]:
    """The means over seeds of each benchmark's figures, in the order of benchmarks, figures and codes."""
    return [
        mean
        for place in dict.fromkeys((one.benchmark, one.figure) for one in scores)
        for mean in _average([one for one in scores if (one.benchmark, one.figure) == place], place)
    ]


def average_formats(scores: Sequence[CodeScore]) -> list[CodeMean]:
    """The means of each format and group, in the order of groups as they come, of formats and of codes."""
    groups = dict.fromkeys(one.group for one in scores)
    return [
        mean
        for group in groups
        for format in FORMATS
        for mean in _average([one for one in scores if (one.group, one.format) == (group, format)], ("", 0))
    ]


def _average(scores: Sequence[CodeScore], place: tuple[str, int]) -> Iterable[CodeMean]:
    """The codes' means over seeds, of a seed over figures; `place` is the benchmark and the figure."""
    seeds = list(dict.fromkeys(one.seed for one in scores))
    found = {
        code: average_seeds(
            {seed: [one.value for one in scores if (one.seed, one.code) == (seed, code)] for seed in seeds}
        )
        for code in CODES
        if scores
    }
    for code, (value, low, high) in found.items():
        first = scores[0]
        yield CodeMean(
            format=first.format,
            group=first.group,
            benchmark=place[0],
            figure=place[1],
            code=code,
            value=value,
            low=low,
            high=high,
            seeds=len(seeds),
            figures=len({(one.benchmark, one.figure) for one in scores}),
            own=_is_own(first.format, code),
            best=value == max(mean for mean, _, _ in found.values()),
        )


def _score_seeds(
    database: Database,
    benchmark: Benchmark,
    method: Method,
    run_code: Callable[[Benchmark, str, str], int],
    report: Callable[[str], None],
) -> Iterable[CodeScore]:
    seeds = list(zip(method.seeds, method.systems, strict=True))
    run_ids = {(seed, code): run_code(benchmark, system, code) for seed, system in seeds for code in CODES}
    systems = {run_ids[seed, code]: system for seed, system in seeds for code in CODES}
    figures = score_figures(database, benchmark, systems, report)
    for seed, system in seeds:
        for of_codes in zip(*(figures[run_ids[seed, code]] for code in CODES), strict=True):
            for code, figure in zip(CODES, of_codes, strict=True):
                yield CodeScore(
                    system=system,
                    seed=seed,
                    benchmark=benchmark.name,
                    format=str(benchmark.format),
                    group="",
                    code=code,
                    figure=figure.number,
                    measure=figure.measures,
                    value=figure.value,
                    run_id=run_ids[seed, code],
                    queries_expected=figure.queries_expected,
                    queries_answered=figure.queries_answered,
                    own=_is_own(benchmark.format, code),
                    best=figure.value == max(one.value for one in of_codes),
                )


def _is_own(format: str | None, code: str) -> bool:
    """Whether a code is that of a format; of a search it is that of its queries."""
    return format is not None and list_codes(format)[0] == code
