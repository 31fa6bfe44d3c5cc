"""A suite's benchmarks run and scored one after another: what fails is named, and the others go on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import DatabaseBusyError, EvaluationError, PinakesError, RunError, UnknownNameError
from pinakes.evaluate.each import EachScored, Failure, Report, evaluate_each, list_run
from pinakes.index.index import index
from pinakes.load.sources import list_sources
from pinakes.progress import Progress, Silent, say_nothing
from pinakes.queries.definition import Benchmark
from pinakes.run.run import RunRequest, run
from pinakes.run.stored_runs import RunSummary
from pinakes.schema import suite_runs
from pinakes.systems.base import SystemOptions
from pinakes.systems.registry import find_system
from pinakes.tasks.base import find_task
from pinakes.workload.benchmark import find_index_folder, open_benchmark
from pinakes.workload.suite import open_suite


@dataclass(frozen=True, slots=True)
class Missing:
    """A benchmark whose data are not loaded, and the command that brings them."""

    benchmark: str
    command: str


@dataclass(frozen=True, slots=True)
class SuiteRuns:
    """What became of a suite's benchmarks: run, failed, or not loaded."""

    made: list[RunSummary]
    failed: list[Failure]
    missing: list[Missing]


def run_suite(
    database: Database,
    request: RunRequest,
    systems: Sequence[str],
    *,
    progress: Progress | None = None,
    report: Report = say_nothing,
) -> SuiteRuns:
    """Index and run every benchmark of the suite `request.benchmark` whose data are loaded, by each system.

    Raises:
        UnknownNameError, BenchmarkError: no such suite or system, or a folder is not as it should be.
        RunError: the data of no benchmark are loaded.
    """
    suite = open_suite(database, request.benchmark)
    opened = [open_benchmark(database, one.name) for one in suite.members]
    missing = [one for one in (find_missing(database, benchmark) for benchmark in opened) if one is not None]
    left_out = {one.benchmark for one in missing}
    _require_systems(database, request, systems)
    made, failed = [], []
    for benchmark in (one for one in opened if one.name not in left_out):
        for system in systems:
            asked = replace(request, benchmark=benchmark.name, system=system)
            try:
                made.append(run_indexed(database, asked, progress, report))
                _enter(database, suite.suite.name, asked, made[-1].run_id)
            except DatabaseBusyError:
                raise
            except PinakesError as error:
                failed.append(Failure(benchmark.name, system, str(error)))
                report(f"{benchmark.name} by {system} failed")
    if not made and not failed:
        raise RunError(
            f"no benchmark of {request.benchmark} is loaded. " + " ".join(map(describe_missing, missing))
        )
    return SuiteRuns(made, failed, missing)


def _require_systems(database: Database, request: RunRequest, systems: Sequence[str]) -> None:
    """Raise `UnknownNameError` for a name that is no system's; what else is wrong is so of each benchmark."""
    options = request.options or SystemOptions(find_index_folder(database))
    for system in systems:
        try:
            find_system(system, options)
        except UnknownNameError:
            raise
        except PinakesError:
            continue


def run_indexed(
    database: Database, request: RunRequest, progress: Progress | None, report: Report
) -> RunSummary:
    """Index a benchmark for a system, and run it; what is there is not made again."""
    indexed = index(
        database,
        request.benchmark,
        request.system,
        options=request.options,
        query_template=request.query_template,
        paper_template=request.paper_template,
        progress=progress or Silent(),
    )
    counts = f"{indexed.added} added, {indexed.existing} there"
    report(f"index {request.system} for {request.benchmark}: {counts}, {indexed.elapsed_s:.1f} s")
    made = run(database, request, progress=progress)
    state = "is there already" if made.existing else f"{made.elapsed_s:.1f} s"
    answered = f"{made.queries_answered} of {made.queries_expected} answered"
    report(f"run {request.system} on {request.benchmark}: {answered}, {state}")
    return made


def _enter(database: Database, suite: str, request: RunRequest, run_id: int) -> None:
    """Say that the run is the system's in the suite, under the name and the options that it was asked by."""
    key = {
        "suite": suite,
        "system": name_entry(request),
        "mode": request.mode,
        "benchmark": request.benchmark,
    }
    with database.begin() as session:
        session.execute(
            sa.delete(suite_runs).where(*(suite_runs.c[name] == value for name, value in key.items()))
        )
        session.execute(sa.insert(suite_runs).values(**key, run_id=run_id))


def name_entry(request: RunRequest) -> str:
    """What a system is called in a suite: its name as asked for, a folder's last part, and what was chosen.

    Trap: it is not the run's `system`, which names what answers one benchmark: of an encoder for each format,
    that format's.
    """
    options = request.options
    name = Path(request.system).name if Path(request.system).is_dir() else request.system
    if options is None:
        return name
    chosen = {"distance": options.distance, "format": options.format}
    forced = "".join(f" --{option} {value}" for option, value in chosen.items() if value is not None)
    return f"{name}{options.requested}{forced}"


def find_missing(database: Database, benchmark: Benchmark) -> Missing | None:
    """What is to be loaded for a benchmark that asks nothing in this database; None where it does."""
    view = sa.table(find_task(benchmark).scored_view, sa.column("query_id"), schema=benchmark.name)
    with database.read() as session:
        if session.first(sa.select(view.c.query_id).limit(1)) is not None:
            return None
    return Missing(benchmark.name, _find_command(benchmark))


def _find_command(benchmark: Benchmark) -> str:
    """The command that brings a benchmark's data, from the dataset that its first corpus is of."""
    if benchmark.sampling is not None and not benchmark.corpus:
        return f"`pinakes sample {benchmark.name} CORPUS`"
    known = {source.name: source for source in list_sources()}
    for corpus in (benchmark.corpus, *benchmark.other_corpora):
        source = known.get(corpus) or known.get(corpus.partition("-")[0])
        if source is not None:
            bring = f"`pinakes fetch {source.name}`, then `pinakes load {source.loader} FOLDER"
            return f"{bring} --corpus {corpus}`"
    return f"`pinakes load FORMAT FOLDER --corpus {benchmark.corpus}`"


def describe_missing(one: Missing) -> str:
    """A missing benchmark in words."""
    return f"{one.benchmark} is not loaded: {one.command}."


def evaluate_suite(
    database: Database, name: str, *, only_changed: bool = False, report: Report = say_nothing
) -> EachScored:
    """Score every run of every benchmark of a suite, and store the scores.

    `only_changed` is as `evaluate` has it.

    Raises:
        UnknownNameError, BenchmarkError: there is no such suite, or a folder is not as it should be.
        EvaluationError: it has no run.
    """
    suite = open_suite(database, name)
    members = list_run(database, [one.name for one in suite.members])
    if not members:
        raise EvaluationError(f"{name} has no run yet; make some with `pinakes run {name} --system …`.")
    return evaluate_each(database, members, only_changed=only_changed, report=report)
