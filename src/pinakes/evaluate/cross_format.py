"""Each code's embedding on the benchmarks of each format: what a code of its own for each format is worth.

SciRepEval, table 4. In the column QRY a search is asked as it should be, its queries as QRY and its
candidates as PRX; whether the paper's column is that, or QRY for both, it does not say.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from pinakes.database import Database
from pinakes.errors import BenchmarkError, InputError
from pinakes.evaluate.evaluate import RunScores, evaluate
from pinakes.progress import Progress
from pinakes.queries.definition import FORMATS, MODES, Benchmark
from pinakes.records import Score
from pinakes.run.run import RunRequest, run
from pinakes.systems.base import SystemOptions
from pinakes.workload.benchmark import find_index_folder, open_benchmark
from pinakes.workload.readers import CODES, list_codes

ALL: Final = "all"


@dataclass(frozen=True, slots=True)
class CrossFormatRequest:
    """Which system is run on which benchmarks; `mode` is one of `queries.definition.MODES`."""

    system: str
    benchmarks: Sequence[str]
    options: SystemOptions | None = None
    mode: str = MODES[0]


@dataclass(frozen=True, slots=True)
class CodeScore:
    """A benchmark's headline measure by the embedding of one code.

    Attributes:
        group: the benchmark's group in its suite, as in-train; empty: it is in none.
        value: over all queries, a missing one as zero; unrounded.
        own: whether the code is that of the benchmark's format.
        best: whether no other code's value on the benchmark is larger.
    """

    benchmark: str
    format: str
    group: str
    code: str
    measure: str
    value: float
    run_id: int
    queries_expected: int
    queries_answered: int
    own: bool
    best: bool


@dataclass(frozen=True, slots=True)
class CodeMean:
    """The mean of the benchmarks of one format in one group, each counting once; `best` as in `CodeScore`."""

    format: str
    group: str
    code: str
    value: float
    benchmarks: int
    own: bool
    best: bool


def cross_format(
    database: Database, request: CrossFormatRequest, *, progress: Progress | None = None
) -> list[CodeScore]:
    """The scores of every benchmark by every code, in the order of the benchmarks and of the codes.

    Runs that exist are not made again.

    Raises:
        InputError: no benchmark is named, one is twice, or the system has one embedding for all formats.
        BenchmarkError: a benchmark has no format.
        RunError: texts have no vector yet; the message has the command that makes it.
    """
    if not request.benchmarks or len(set(request.benchmarks)) < len(request.benchmarks):
        raise InputError("expected one benchmark or more, each once.")
    benchmarks = [open_benchmark(database, name) for name in request.benchmarks]
    for benchmark in benchmarks:
        if benchmark.format is None:
            raise BenchmarkError(
                f"{benchmark.name} has no format; expected `format` in its benchmark.toml, one of "
                f"{', '.join(FORMATS)}."
            )
    return [score for one in benchmarks for score in _score_codes(database, one, request, progress)]


def average_formats(scores: Sequence[CodeScore]) -> list[CodeMean]:
    """The means of each format and group, in the order of groups as they come, of formats and of codes."""
    groups = list(dict.fromkeys(score.group for score in scores))
    found: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for score in scores:
        found[score.group, score.format][score.code].append(score.value)
    means = []
    for group in groups:
        for format in (one for one in FORMATS if (group, one) in found):
            values = {code: float(np.mean(listed)) for code, listed in found[group, format].items()}
            count = len(next(iter(found[group, format].values())))
            means += [
                CodeMean(
                    format, group, code, value, count, _is_own(format, code), value == max(values.values())
                )
                for code, value in values.items()
            ]
    return means


def _score_codes(
    database: Database, benchmark: Benchmark, request: CrossFormatRequest, progress: Progress | None
) -> list[CodeScore]:
    options = request.options or SystemOptions(find_index_folder(database))
    run_ids = {}
    for code in CODES:
        forced = benchmark.format if _is_own(benchmark.format, code) else code
        asked = RunRequest(benchmark.name, request.system, replace(options, format=forced), mode=request.mode)
        run_ids[code] = run(database, asked, progress=progress).run_id
    requested = list(dict.fromkeys(run_ids.values()))
    made = evaluate(database, benchmark.name, run_ids=requested, measures=[benchmark.headline_measure])
    found = {one.run_id: _find_headline(one) for one in made}
    scores = {code: found[run_id] for code, run_id in run_ids.items()}
    largest = max(score.value for score in scores.values())
    return [
        CodeScore(
            benchmark=benchmark.name,
            format=str(benchmark.format),
            group=benchmark.suite.group if benchmark.suite else "",
            code=code,
            measure=score.measure,
            value=score.value,
            run_id=run_ids[code],
            queries_expected=score.queries_expected,
            queries_answered=score.queries_answered,
            own=_is_own(benchmark.format, code),
            best=score.value == largest,
        )
        for code, score in scores.items()
    ]


def _find_headline(scored: RunScores) -> Score:
    return next(score for score in scored.aggregates() if score.subset == ALL)


def _is_own(format: str | None, code: str) -> bool:
    """Whether a code is that of a format; of a search it is that of its queries."""
    return format is not None and list_codes(format)[0] == code
