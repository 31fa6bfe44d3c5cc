"""The commands that score runs and compare them: `evaluate`, `accept`, `compare`, `agreement`, `errors`."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pinakes.cli.option_sets import CommandGroup
from pinakes.cli.options import AllRuns, BenchmarkName, CommonOptions, HeadlineMeasure, Measures, RunIds
from pinakes.errors import EvaluationError, InputError

if TYPE_CHECKING:
    from pinakes.evaluate.gates import Gate

app = CommandGroup()


@dataclass(frozen=True, slots=True)
class EvaluateOptions:
    """Which runs are scored, and by what."""

    run: RunIds = None
    measure: Measures = None
    per_query: Annotated[bool, typer.Option("--per-query", help="Print each query's value.")] = False
    changed: Annotated[
        bool,
        typer.Option(
            "--changed",
            help="Only runs that are new, or whose judgments, views, measures or scoring code changed.",
        ),
    ] = False


@dataclass(frozen=True, slots=True)
class GateOptions:
    """What counts as a regression."""

    fail_on_drop: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GATE",
            help="Exit with 3 where the headline measure fell so far below its accepted value, as 0.01, or "
            "significantly (significant); of a measure: nDCG@10=0.01. May be repeated.",
        ),
    ] = None
    alpha: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Up to which p value a drop is significant.")
    ] = 0.05


AllBenchmarks = Annotated[bool, typer.Option("--all", help="All benchmarks that have runs.")]
OneBenchmark = Annotated[
    str | None, typer.Argument(help="The benchmark's name; leave it out with --all.", metavar="BENCHMARK")
]


@app.command()
def evaluate(
    benchmark: OneBenchmark = None,
    all_benchmarks: AllBenchmarks = False,
    *,
    options: EvaluateOptions,
    gates: GateOptions,
    common: CommonOptions,
) -> None:
    """Score runs of a benchmark, a suite or all benchmarks, store the scores and print them."""
    from pinakes.evaluate.gates import read_gate
    from pinakes.workload.suite import is_suite

    _require_one(benchmark, all_benchmarks)
    wanted = [read_gate(text) for text in gates.fail_on_drop or []]
    if benchmark is not None and not is_suite(benchmark):
        _evaluate_one(benchmark, options, wanted, gates.alpha, common)
        return
    if options.run or options.measure or options.per_query:
        raise InputError(
            "--run, --measure and --per-query are of one benchmark; a suite, and --all, are scored whole."
        )
    _evaluate_several(benchmark, options, wanted, gates.alpha, common)


def _require_one(benchmark: str | None, all_benchmarks: bool) -> None:
    if (benchmark is None) is not all_benchmarks:
        raise typer.BadParameter("name one BENCHMARK, or take --all.")


def _evaluate_one(
    benchmark: str, options: EvaluateOptions, gates: "list[Gate]", alpha: float, common: CommonOptions
) -> None:
    from pinakes.evaluate.evaluate import evaluate
    from pinakes.evaluate.gates import check_gates
    from pinakes.report.present.evaluate import describe_coverage, describe_first, print_scores
    from pinakes.report.present.gates import require_level
    from pinakes.report.self_retrieval.terminal import is_self_retrieval, print_self_scores

    run_ids = options.run or []
    with common.connect_alone("evaluate") as database:
        results = evaluate(
            database,
            benchmark,
            run_ids=run_ids,
            measures=options.measure or [],
            only_changed=options.changed,
        )
        if not results:
            common.say(f"{benchmark}: no run is new, and nothing that decides the scores changed")
        is_plain = not options.per_query and not common.output.is_for_programs
        if results and is_plain and is_self_retrieval(benchmark):
            print_self_scores(database, benchmark, results, common.output)
        elif results or common.output.is_for_programs:
            print_scores(results, common.output, per_query=options.per_query)
            common.say(*describe_coverage(results))
        common.say(*describe_first(results))
        if gates:
            require_level(
                check_gates(database, [benchmark], gates, alpha=alpha, run_ids=run_ids), [], common.say
            )


def _evaluate_several(
    suite: str | None,
    options: EvaluateOptions,
    gates: "list[Gate]",
    alpha: float,
    common: CommonOptions,
) -> None:
    """A suite's benchmarks, or all; what fails is named at the end."""
    from pinakes.evaluate.accept import list_acceptable
    from pinakes.evaluate.each import evaluate_each, list_run
    from pinakes.evaluate.gates import check_gates
    from pinakes.report.present.evaluate import describe_each, print_each
    from pinakes.report.present.failures import list_failures
    from pinakes.report.present.gates import require_level

    with common.connect_alone("evaluate") as database:
        if suite is None:
            names = list_acceptable(database)
            chosen = list_run(database)
            done = evaluate_each(database, chosen, only_changed=options.changed, report=common.say)
            print_each(database, done.scored, common.output)
        else:
            from pinakes.evaluate.suite import evaluate_suite

            done = evaluate_suite(database, suite, only_changed=options.changed, report=common.say)
            names = list(done.scored)
            from pinakes.report.present.suite import print_suite_scores

            print_suite_scores(database, suite, common.output)
        common.say(*describe_each(done.scored))
        failed = {one.benchmark for one in done.failed}
        if gates:
            compared = [name for name in names if name not in failed]
            checked = check_gates(database, compared, gates, alpha=alpha)
            require_level(checked, done.failed, common.say)
    if done.failed:
        raise EvaluationError(list_failures(done.failed))


@app.command()
def accept(
    benchmark: OneBenchmark = None,
    all_benchmarks: AllBenchmarks = False,
    *,
    run: RunIds = None,
    common: CommonOptions,
) -> None:
    """Accept the scores as they are: `evaluate --fail-on-drop` compares with them from now on."""
    from pinakes.evaluate.accept import accept, accept_each
    from pinakes.report.present.failures import list_failures
    from pinakes.report.present.gates import print_accepted

    _require_one(benchmark, all_benchmarks)
    if benchmark is None and run:
        raise InputError("--run is of one benchmark; name it in place of --all.")
    with common.connect_alone("evaluate") as database:
        if benchmark is not None:
            print_accepted(accept(database, benchmark, run_ids=run or []), common.output)
            return
        accepted, failed = accept_each(database)
    print_accepted(accepted, common.output)
    if failed:
        raise EvaluationError(list_failures(failed))


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """Which runs are compared, and by what."""

    run: RunIds = None
    measure: HeadlineMeasure = None
    by: Annotated[str | None, typer.Option(help="A grouping column: test within each of its groups too.")] = (
        None
    )
    seed: Annotated[int, typer.Option(help="Of the randomisation test.")] = 0
    all_runs: AllRuns = False


@app.command()
def compare(benchmark: BenchmarkName, options: CompareOptions, common: CommonOptions) -> None:
    """Test each pair of runs for a difference: t, Wilcoxon, randomisation, bootstrap; Holm over pairs."""
    from pinakes.evaluate.compare import compare_subsets
    from pinakes.report.present.compare import LEAD, comparison_rows, describe_not_compared, resampled_rows

    with common.connect_to_look() as database:
        found = compare_subsets(
            database,
            benchmark,
            run_ids=options.run or [],
            measure=options.measure,
            seed=options.seed,
            all_runs=options.all_runs,
            by=options.by,
        )
    common.print_records(comparison_rows(found.pairs) or resampled_rows(found.resampled), LEAD)
    common.say(*describe_not_compared(found.not_compared))


@app.command()
def agreement(
    benchmark: BenchmarkName,
    by: Annotated[
        str | None,
        typer.Option(
            help="A grouping column. Default: that of the published table, or the benchmark's first."
        ),
    ] = None,
    negative: Annotated[
        str,
        typer.Option(
            help="What a negative grade stands for: zero, the lowest grade, or missing, a paper not judged."
        ),
    ] = "zero",
    per_query: Annotated[bool, typer.Option("--per-query", help="Print each query's agreement.")] = False,
    *,
    common: CommonOptions,
) -> None:
    """How far assessors agree, with each other and with the adjudicated grades; medians over the queries."""
    from pinakes.evaluate.agreement import measure_agreement, measure_query_agreement
    from pinakes.report.present.compare import (
        choose_agreement_column,
        find_published_agreement,
        print_agreement,
    )
    from pinakes.workload.benchmark import open_benchmark

    with common.connect_to_look() as database:
        defined = open_benchmark(database, benchmark)
        column = by or choose_agreement_column(defined)
        if per_query:
            found = measure_query_agreement(database, benchmark, column, negative=negative)
            common.print_records([asdict(one) for one in found])
        else:
            rows = measure_agreement(database, benchmark, column, negative=negative)
            print_agreement(rows, find_published_agreement(defined, column), common.output)


@dataclass(frozen=True, slots=True)
class ErrorOptions:
    """Which errors of which runs are looked at."""

    run: Annotated[
        list[int] | None,
        typer.Option(
            "--run",
            "-r",
            help="A run's id; the queries are ordered by the first. May be repeated. Default: the best run.",
        ),
    ] = None
    query: Annotated[
        list[str] | None,
        typer.Option(help="A query's id. May be repeated. Default: all, of more than 200 the worst."),
    ] = None
    top: Annotated[int, typer.Option(min=1, help="Candidates of each kind for each run and query.")] = 10
    relevant_from: Annotated[
        int | None,
        typer.Option(
            help="The lowest grade that is relevant. Default: the rel of the benchmark's measures, or 1."
        ),
    ] = None


@app.command()
def errors(
    benchmark: BenchmarkName,
    options: ErrorOptions,
    folder: Annotated[Path | None, typer.Option(help="Default: BENCHMARK-errors in this folder.")] = None,
    *,
    common: CommonOptions,
) -> None:
    """Show what runs rank too high and too low, query by query with its text, as one HTML page."""
    from pinakes.report.errors.gather import ErrorRequest, gather_errors
    from pinakes.report.errors.page import error_table, write_errors
    from pinakes.report.terminal import print_table

    runs, queries = tuple(options.run or ()), tuple(options.query or ())
    request = ErrorRequest(benchmark, runs, queries, options.top, options.relevant_from)
    with common.connect_to_look() as database:
        found = gather_errors(database, request)
    paths = write_errors(found, folder or Path(f"{benchmark}-errors"))
    print_table(error_table(found), common.output)
    common.say(*(f"written: {path}" for path in paths))
