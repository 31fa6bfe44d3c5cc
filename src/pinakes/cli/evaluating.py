"""The commands that score runs and compare them: `evaluate`, `compare`, `agreement`, `errors`."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from pinakes.cli.option_sets import CommandGroup
from pinakes.cli.options import AllRuns, BenchmarkName, CommonOptions, HeadlineMeasure, Measures, RunIds
from pinakes.errors import EvaluationError, InputError

app = CommandGroup()


@app.command()
def evaluate(
    benchmark: BenchmarkName,
    run: RunIds = None,
    measure: Measures = None,
    per_query: Annotated[bool, typer.Option("--per-query", help="Print each query's value.")] = False,
    *,
    common: CommonOptions,
) -> None:
    """Score runs of a benchmark or a suite, store the scores and print them."""
    from pinakes.evaluate.evaluate import evaluate
    from pinakes.report.present.evaluate import describe_coverage, print_scores
    from pinakes.report.self_retrieval.terminal import is_self_retrieval, print_self_scores
    from pinakes.workload.suite import is_suite

    if is_suite(benchmark):
        if run or measure or per_query:
            raise InputError(
                "--run, --measure and --per-query are of one benchmark; a suite is scored whole."
            )
        _evaluate_suite(benchmark, common)
        return
    with common.connect() as database:
        results = evaluate(database, benchmark, run_ids=run or [], measures=measure or [])
        if is_self_retrieval(benchmark) and not per_query and not common.output.is_for_programs:
            print_self_scores(database, benchmark, results, common.output)
            return
    print_scores(results, common.output, per_query=per_query)
    common.say(*describe_coverage(results))


def _evaluate_suite(name: str, common: CommonOptions) -> None:
    from pinakes.evaluate.suite import evaluate_suite
    from pinakes.report.present.suite import list_failures, print_suite_scores

    with common.connect() as database:
        done = evaluate_suite(database, name, report=common.say)
        print_suite_scores(database, name, common.output)
    if done.failed:
        raise EvaluationError(list_failures(done.failed))


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
