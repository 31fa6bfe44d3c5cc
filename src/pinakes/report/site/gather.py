"""What the pages of one benchmark share: its report, its systems with their looks, its queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import EvaluationError, PinakesError
from pinakes.queries.definition import Benchmark
from pinakes.queries.tasks import RANKING
from pinakes.report.data import BenchmarkReport, RunRow
from pinakes.report.errors.gather import find_relevant
from pinakes.report.formatting import format_value
from pinakes.report.gather import gather_untested, test_runs
from pinakes.report.own_reports import find_own_report
from pinakes.report.runs import choose_runs
from pinakes.report.site.layout import NamedRun
from pinakes.report.site.looks import Swatch, assign_looks, make_swatch
from pinakes.report.site.names import make_file_name
from pinakes.report.site.queries import read_groups
from pinakes.run.stored_runs import find_runs, name_line
from pinakes.schema import evaluations, runs, scores
from pinakes.tasks.base import find_task
from pinakes.workload.benchmark import open_benchmark

MOST_SYSTEMS: Final = 8
"""systems that stand side by side on the pages of queries, the best by the headline"""


@dataclass(frozen=True, slots=True)
class Subject:
    """A benchmark that has a report of rankings or of values, and what all its pages need.

    Attributes:
        report: with the looks of its runs.
        named: run id -> the run as pages name it, best first.
        groups: query id -> its grouping columns; empty where the task asks no queries with judged papers.
        relevant_from: the lowest grade that is relevant.
    """

    benchmark: Benchmark
    report: BenchmarkReport
    named: Mapping[int, NamedRun]
    groups: Mapping[str, Mapping[str, str]]
    relevant_from: int

    @property
    def folder(self) -> str:
        """Where its pages are, from the top of the site."""
        return find_folder(self.benchmark.name)

    def list_shown(self) -> list[NamedRun]:
        """The runs that pages of queries show: those that were scored, best first."""
        scored = [one for run_id, one in self.named.items() if run_id in self.report.query_values]
        return scored[:MOST_SYSTEMS]

    def list_measures(self) -> list[str]:
        """The measures that the page of a query shows, the headline first."""
        return self.report.list_lead_measures(self.report.headline_subset)


@dataclass(frozen=True, slots=True)
class Lead:
    """The best system by the headline, with its value as it is printed.

    Attributes:
        swatch: None: pages of its benchmark give systems no colours.
    """

    label: str
    value: str
    swatch: Swatch | None = None


def find_lead(subject: Subject) -> Lead | None:
    """The best system of a benchmark; None where no run has the headline."""
    report = subject.report
    scores = report.index_scores()
    for run in report.rank_runs()[:1]:
        score = scores.get((run.run_id, report.headline_subset, report.headline_measure))
        if score is not None:
            named = subject.named[run.run_id]
            value = format_value(score.value, report.scale, score.measure)
            return Lead(named.label, value, named.swatch)
    return None


def count_queries(subject: Subject) -> int | None:
    """How many queries, papers or clusters the headline is the mean of; None where no run has it."""
    report = subject.report
    of_headline = [
        score.queries_expected
        for score in report.scores
        if (score.subset, score.measure) == (report.headline_subset, report.headline_measure)
    ]
    return max(of_headline, default=None)


def find_folder(benchmark: str) -> str:
    """The folder of a benchmark's pages, from the top of the site.

    >>> find_folder("csfcube")
    'benchmarks/csfcube'
    """
    return f"benchmarks/{make_file_name(benchmark)}"


def list_evaluated(database: Database) -> list[str]:
    """The benchmarks that have a run with scores, by name."""
    query = sa.select(runs.c.benchmark).distinct().join(scores, scores.c.run_id == runs.c.run_id)
    with database.read() as session:
        found = session.rows(query.where(scores.c.query_id.is_(None)))
    return sorted(str(row["benchmark"]) for row in found)


def read_evaluated_at(database: Database) -> dict[str, datetime]:
    """Benchmark -> when it was evaluated last."""
    last = sa.func.max(evaluations.c.evaluated_at).label("evaluated_at")
    with database.read() as session:
        rows = session.rows(sa.select(evaluations.c.benchmark, last).group_by(evaluations.c.benchmark))
    return {str(row["benchmark"]): row["evaluated_at"] for row in rows}


def choose_looks(
    database: Database, names: Sequence[str], before: Mapping[str, int] | None = None
) -> dict[str, int]:
    """The number of the look of every system: of those `before`, and of the benchmarks; see `find_keys`.

    A system keeps the look that it had, while the database has runs of it; others get theirs in the order in
    which the database first had them. Benchmarks that cannot be read are passed over.
    """
    first = _read_first_runs(database)
    keys: dict[str, str] = {}
    for name in names:
        try:
            if find_own_report(name) is None:
                benchmark = open_benchmark(database, name)
                chosen, _left_out = choose_runs(database, benchmark, (), all_runs=False)
                named = find_keys(database, name, chosen)
                keys |= {named[run.run_id]: run.system for run in chosen}
        except PinakesError:  # what cannot be read is told where its pages are made
            continue
    kept = {key: look for key, look in (before or {}).items() if key in keys or key in first}
    return assign_looks(sorted(keys, key=lambda key: (first[keys[key]], key)), kept)


def _read_first_runs(database: Database) -> dict[str, datetime]:
    """System -> when the first of its runs began."""
    start = sa.func.min(runs.c.started_at).label("started_at")
    with database.read() as session:
        rows = session.rows(sa.select(runs.c.system, start).group_by(runs.c.system))
    return {str(row["system"]): row["started_at"] for row in rows}


def find_keys(database: Database, benchmark: str, chosen: Sequence[RunRow]) -> dict[int, str]:
    """Run id -> what its look belongs to: its system; its label, where that had other settings before."""
    first: dict[str, int] = {}
    lines = {row["run_id"]: name_line(row) for row in find_runs(database, benchmark)}
    for run_id in sorted(lines):
        first.setdefault(lines[run_id], run_id)
    keys: dict[int, str] = {}
    taken: set[str] = set()
    for run in sorted(chosen, key=lambda run: first[lines[run.run_id]]):
        keys[run.run_id] = run.label if run.system in taken else run.system
        taken.add(run.system)
    return keys


def gather_subject(database: Database, name: str, looks: Mapping[str, int]) -> Subject:
    """A benchmark with its report and its queries, without the tests of pairs of runs: see `test_subject`.

    Raises:
        EvaluationError: no run of it was evaluated by its headline measure.
    """
    benchmark = open_benchmark(database, name)
    report = gather_untested(database, name)
    keys = find_keys(database, name, report.runs)
    numbers = {run_id: looks[key] for run_id, key in keys.items()}
    named = {
        run.run_id: NamedRun(run.run_id, run.label, make_swatch(numbers[run.run_id]))
        for run in report.rank_runs()
    }
    has_queries = benchmark.task == RANKING and bool(report.query_values)
    return Subject(
        benchmark=benchmark,
        report=replace(report, looks=numbers),
        named=named,
        groups=read_groups(database, benchmark) if has_queries else {},
        relevant_from=find_relevant(benchmark) if has_queries else 1,
    )


def test_subject(database: Database, subject: Subject) -> Subject:
    """The benchmark with the tests of its pairs of runs."""
    return replace(subject, report=test_runs(database, subject.report))


@dataclass(frozen=True, slots=True)
class OwnSubject:
    """A benchmark whose task has a report of its own: the template of its page, and what that shows."""

    benchmark: Benchmark
    template: str
    values: Mapping[str, Any]
    report: Any

    def find_lead(self) -> tuple[Lead, int] | None:
        """The best system over all that was asked, and of how many queries that is the mean.

        None where no run has such a value, or where runs asked several corpora.
        """
        task = find_task(self.benchmark)
        measure = task.name_measure(self.benchmark.headline_measure)
        found = [(self.report.values.get((run.run_id, "all", measure)), run) for run in self.report.runs]
        scored = [(value, run) for value, run in found if value is not None]
        if not scored or len({run.corpus for run in self.report.runs}) > 1:
            return None
        choose = min if task.prefers_lower(measure) else max
        best, run = choose(scored, key=lambda one: one[0].value)
        return Lead(run.label, format_value(best.value, "share", measure)), best.expected


def gather_own(database: Database, name: str) -> OwnSubject | None:
    """A benchmark whose task has a report of its own; None where it has not.

    Raises:
        EvaluationError: no run of it was evaluated.
    """
    own = find_own_report(name)
    if own is None:
        return None
    benchmark = open_benchmark(database, name)
    report = own.gather(database, benchmark, (), all_runs=False, mode=None)
    template, values = own.fill(report)
    return OwnSubject(benchmark, template, values, report)


def require_evaluated(names: Sequence[str], evaluated: Sequence[str]) -> None:
    """Raise `EvaluationError` for a name that is no benchmark with scores."""
    for name in names:
        if name not in evaluated:
            known = ", ".join(evaluated) or "none"
            raise EvaluationError(f"{name} has no run that was evaluated; benchmarks that have: {known}.")
