"""From published figures, stored scores and views to the matrix of reproduction. Nothing is run or scored."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import EvaluationError, PinakesError
from pinakes.evaluate.suite import Missing, find_missing
from pinakes.indexers.encoder.presets import explain_absent_weights
from pinakes.queries.definition import MODES, Benchmark, PublishedScore, list_benchmarks, read_benchmark
from pinakes.queries.suites import AVERAGE, Suite, list_suites, read_suite
from pinakes.report.exhibits.data import TableExhibit
from pinakes.report.exhibits.gather import gather_exhibits
from pinakes.report.reproduction.data import Figure, Matrix, Outcome, judge
from pinakes.report.reproduction.match import Target, find_target, names_run, split_subset
from pinakes.report.suite.data import Figure as SuiteFigure
from pinakes.report.suite.data import FigureKey, FigureScore, mean_of
from pinakes.report.suite.gather import list_figures, read_suite_scores
from pinakes.run.stored_runs import find_runs
from pinakes.schema import scores
from pinakes.settings import read_settings
from pinakes.tasks.base import find_task
from pinakes.workload.benchmark import open_benchmark
from pinakes.workload.suite import OpenSuite, open_suite

NO_SYSTEM = "no system of Pinakes is known to be it"
_REVISION: Final = re.compile(r" at revision \S+")
Report = Callable[[str], None]


def gather_matrix(
    database: Database, name: str | None = None, *, report: Report = lambda _line: None
) -> Matrix:
    """The published figures of a benchmark or a suite with its benchmarks, or of all, with what is measured.

    A benchmark that cannot be read is named in `failed`, and the others go on.

    Raises:
        UnknownNameError: there is no benchmark and no suite of that name.
        SchemaVersionError: the database has no tables, or others.
    """
    folders = read_settings().benchmark_folders
    suites = list_suites(folders)
    figures: list[Figure] = []
    failed: list[tuple[str, str]] = []
    if name is not None and name not in suites:
        return Matrix(gather_benchmark(database, open_benchmark(database, name)))
    members = _list_members(folders) if name is not None else {}
    for one in list_benchmarks(folders):
        if name is not None and members.get(one) != name:
            continue
        report(one)
        try:
            figures += gather_benchmark(database, open_benchmark(database, one))
        except PinakesError as error:
            failed.append((one, str(error)))
    for suite in suites if name is None else [name]:
        try:
            figures += gather_averages(database, suite)
        except PinakesError as error:
            failed.append((suite, str(error)))
    return Matrix(figures, failed)


def _list_members(folders: Sequence[Any]) -> dict[str, str]:
    """Benchmark -> the suite that it is in."""
    read = (read_benchmark(name, folders) for name in list_benchmarks(folders))
    return {one.name: one.suite.name for one in read if one.suite is not None}


def gather_benchmark(database: Database, benchmark: Benchmark) -> list[Figure]:
    """The figures of an installed benchmark: of systems, then of its exhibits."""
    if not benchmark.published and not any(one.published for one in benchmark.exhibits):
        return []
    missing = find_missing(database, benchmark)
    compared = _Compared(database, benchmark, missing)
    found = [compared.compare(figure) for figure in benchmark.published]
    return [*found, *_compare_exhibits(database, benchmark, missing)]


def _not_run(name: str, published: PublishedScore, command: str) -> Figure:
    """A published figure of a benchmark or suite before our value is known."""
    return Figure(
        benchmark=name,
        source=published.source,
        row=published.system,
        subset=published.subset,
        measure=published.measure,
        printed=published.printed,
        measured=None,
        value=None,
        outcome="not run",
        why="",
        command=command,
    )


def _find_ours(benchmark: Benchmark) -> Mapping[str, Sequence[str]]:
    """What the benchmark's suite calls published systems in runs."""
    if benchmark.suite is None:
        return {}
    return read_suite(benchmark.suite.name, read_settings().benchmark_folders).ours


@dataclass(frozen=True, slots=True)
class _Value:
    run_id: int
    value: float
    mode: str


class _Compared:
    """What a benchmark's runs have of published figures, read once."""

    def __init__(self, database: Database, benchmark: Benchmark, missing: Missing | None) -> None:
        self._benchmark = benchmark
        self._missing = missing
        self._ours = _find_ours(benchmark)
        self._name_measure = find_task(benchmark).name_measure
        try:
            self._runs = sorted(find_runs(database, benchmark.name), key=_prefer)
        except EvaluationError:  # there is none
            self._runs = []
        self._values = _read_values(database, [row["run_id"] for row in self._runs])
        self._targets: dict[str, Target | None] = {}
        self._absent: dict[str, str] = {}

    def compare(self, figure: PublishedScore) -> Figure:
        """A published figure beside the newest run that is of its system and has the score."""
        corpus, subset = split_subset(self._benchmark, figure.subset)
        target = self._find_target(figure.system)
        command = "" if target is None else target.command + (f" --corpus {corpus}" if corpus else "")
        shown = _not_run(self._benchmark.name, figure, command)
        runs = [
            row for row in self._runs if names_run(self._benchmark, figure.system, corpus, row, self._ours)
        ]
        measure = self._name_measure(figure.measure)
        for row in runs:
            value = self._values.get((row["run_id"], subset, measure))
            if value is not None:
                scaled = value * _find_scale(figure)
                measured, outcome = judge(scaled, figure.printed)
                return replace(
                    shown,
                    measured=measured,
                    value=scaled,
                    outcome=outcome,
                    why=self._explain_value(row),
                    run_id=row["run_id"],
                    command=shown.command or f"pinakes evaluate {self._benchmark.name}",
                )
        return replace(shown, why=self._explain(target, runs))

    def _explain_value(self, row: Mapping[str, Any]) -> str:
        """What must be known of a measured value."""
        said = []
        if row["imported_from"] is not None:
            said.append(f"imported from {row['imported_from']}")
        if row["mode"] != MODES[0]:
            said.append(f"mode {row['mode']}")
        if row["view_digest"] != self._benchmark.digest:
            said.append("made when the benchmark was defined otherwise")
        if self._benchmark.sampling is not None:
            said.append(f"another sample, of {self._benchmark.corpus or 'another corpus'}")
        if row["queries_answered"] < row["queries_expected"]:
            said.append(f"{row['queries_expected'] - row['queries_answered']} queries without an answer")
        return "; ".join(said)

    def _explain(self, target: Target | None, runs: Sequence[Mapping[str, Any]]) -> str:
        """Why we have no value of a figure."""
        if runs:
            ids = ", ".join(str(row["run_id"]) for row in runs[:3])
            return (
                f"run {ids} has no such score: `pinakes evaluate {self._benchmark.name}`, or another subset"
            )
        if target is None:
            return NO_SYSTEM
        if self._missing is not None:
            return _explain_data(self._benchmark, self._missing)
        return self._explain_weights(target.system) or "not run yet"

    def _find_target(self, system: str) -> Target | None:
        if system not in self._targets:
            self._targets[system] = find_target(self._benchmark, system, self._ours)
        return self._targets[system]

    def _explain_weights(self, system: str) -> str:
        if system not in self._absent:
            self._absent[system] = _explain_weights(system)
        return self._absent[system]


def _explain_data(benchmark: Benchmark, missing: Missing) -> str:
    if not benchmark.corpus and benchmark.sampling is None:
        return "data absent: no corpus is loaded that it could ask"
    return f"data absent: {missing.command}"


def _prefer(row: Mapping[str, Any]) -> tuple[int, int]:
    """Corrected runs before published ones, then the newest."""
    return MODES.index(row["mode"]), -row["run_id"]


def _read_values(database: Database, run_ids: Sequence[int]) -> dict[tuple[int, str, str], float]:
    """(run, subset, measure) -> value."""
    if not run_ids:
        return {}
    columns = [scores.c[name] for name in ("run_id", "subset", "measure", "value")]
    query = sa.select(*columns).where(scores.c.run_id.in_(run_ids), scores.c.query_id.is_(None))
    with database.read() as session:
        return {(row["run_id"], row["subset"], row["measure"]): row["value"] for row in session.rows(query)}


def _find_scale(figure: PublishedScore) -> float:
    """What a score is multiplied by to be as printed: 1, or 100 of per cents.

    >>> _find_scale(PublishedScore("a", "all", "AP", "", 0.538, "53.8"))
    100.0
    """
    return float(round(float(figure.printed) / figure.value)) if figure.value else 1.0


def _compare_exhibits(database: Database, benchmark: Benchmark, missing: Missing | None) -> Iterator[Figure]:
    """The printed figures of tables of views, beside the views as they are now."""
    if not any(one.published for one in benchmark.exhibits):
        return
    shown = {} if missing is not None else {one.title: one for one in gather_exhibits(database, benchmark)}
    for defined in benchmark.exhibits:
        exhibit = shown.get(defined.title)
        values = _index_exhibit(exhibit) if isinstance(exhibit, TableExhibit) else {}
        for row, printed in (defined.published or {}).items():
            for measure, text in zip(defined.measures, printed, strict=True):
                value = values.get((row, measure))
                judged: tuple[str | None, Outcome] = (None, "not run")
                if value is not None:
                    judged = judge(value, text)
                why = "" if value is not None else "the view has no such row"
                if missing is not None:
                    why = _explain_data(benchmark, missing)
                yield Figure(
                    benchmark=benchmark.name,
                    source=defined.source,
                    row=row,
                    subset=defined.title,
                    measure=measure,
                    printed=text,
                    measured=judged[0],
                    value=value,
                    outcome=judged[1],
                    why=why,
                    command=_command_of_exhibit(benchmark, defined.kind, defined.view, defined.column),
                )


def _command_of_exhibit(benchmark: Benchmark, kind: str, view: str, column: str) -> str:
    if kind == "agreement":
        return f"pinakes agreement {benchmark.name} --by {column}"
    return f"pinakes export {benchmark.name}.{view} FILE.csv"


def _index_exhibit(exhibit: TableExhibit) -> dict[tuple[str, str], float]:
    """(row as published, column) -> the number in the view."""
    found = {}
    for row in exhibit.rows:
        values = dict(zip(exhibit.columns, row, strict=True))
        name = " / ".join(str(values[key]) for key in exhibit.key)
        for measure in exhibit.measures:
            value = values[measure]
            if isinstance(value, int | float):
                found[name, measure] = float(value)
    return found


def gather_averages(database: Database, name: str) -> list[Figure]:
    """The published averages of a suite beside those of our runs, where these have all that count in them."""
    folders = read_settings().benchmark_folders
    if not read_suite(name, folders).published:
        return []
    opened = open_suite(database, name)
    figures = [one for one in list_figures(opened) if one.in_average]
    found = read_suite_scores(database, name)
    return [_compare_average(opened, figures, found, one) for one in opened.suite.published]


def _compare_average(
    opened: OpenSuite,
    figures: Sequence[SuiteFigure],
    found: Mapping[str, Mapping[str, Mapping[FigureKey, FigureScore]]],
    published: PublishedScore,
) -> Figure:
    suite = opened.suite
    format_ = published.measure.removeprefix(AVERAGE).strip("()") or None
    wanted = [
        one for one in figures if published.subset in (AVERAGE, one.group) and format_ in (None, one.format)
    ]
    names = suite.ours.get(published.system, ())
    command = f"pinakes run {suite.name} --system {names[0]}" if names else ""
    shown = _not_run(suite.name, published, command)
    if not names:
        return replace(shown, why=NO_SYSTEM)
    most = 0
    for mode in MODES:
        for system in names:
            scored = found.get(mode, {}).get(system, {})
            values = [
                value for one in wanted if one.key in scored and (value := scored[one.key].value) is not None
            ]
            most = max(most, len(values))
            if wanted and len(values) == len(wanted):
                scaled = mean_of(values) * _find_scale(published)
                measured, outcome = judge(scaled, published.printed)
                why = "" if mode == MODES[0] else f"mode {mode}"
                return replace(shown, measured=measured, value=scaled, outcome=outcome, why=why)
    if most:
        return replace(shown, why=f"{most} of the {len(wanted)} figures in it have a score")
    return replace(shown, why=_explain_suite(suite, names[0]))


def _explain_suite(suite: Suite, system: str) -> str:
    return _explain_weights(system) or f"not run yet, or data of {suite.name} absent"


def _explain_weights(system: str) -> str:
    """Which weights are not on this machine, without the revision; empty where all are."""
    absent = explain_absent_weights(system)
    return f"weights absent: {_REVISION.sub('', absent)}" if absent else ""
