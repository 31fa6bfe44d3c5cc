"""The commands that hold runs, and assessors, against each other: `compare`, `agreement`.

They stand apart from the other commands (`cli`) for their number of options only.
"""

from dataclasses import asdict
from typing import Annotated

import typer

from pinakes.cli import steps
from pinakes.cli.options import AllRuns, BenchmarkName, DatabaseUrl, Json, Quiet, RunIds, Wait


def compare(
    benchmark: BenchmarkName,
    run: RunIds = None,
    measure: Annotated[
        str | None, typer.Option("--measure", "-m", help="Default: the headline measure.", show_default=False)
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by", help="A grouping column: test within each of its groups too.", show_default=False
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the randomisation test.")] = 0,
    all_runs: AllRuns = False,
    db: DatabaseUrl = None,
    wait: Wait = 0.0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Test every pair of runs for a difference: t, Wilcoxon, randomisation; Holm over the pairs."""
    with steps.connect(db, wait_s=wait) as database:
        found = steps.compare_subsets(
            database, benchmark, run_ids=run or [], measure=measure, seed=seed, all_runs=all_runs, by=by
        )
    steps.print_records(steps.comparison_rows(found.pairs), as_json=json)
    if not quiet:
        for line in steps.describe_not_compared(found.not_compared):
            typer.echo(line, err=True)


def agreement(
    benchmark: BenchmarkName,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            help="A grouping column. Default: that of the published table, or the benchmark's first.",
            show_default=False,
        ),
    ] = None,
    negative: Annotated[
        str,
        typer.Option(
            help="What a negative grade stands for: zero, the lowest grade, or missing, a paper not judged."
        ),
    ] = "zero",
    per_query: Annotated[bool, typer.Option("--per-query", help="Print each query's agreement.")] = False,
    db: DatabaseUrl = None,
    wait: Wait = 0.0,
    json: Json = False,
) -> None:
    """How far assessors agree, with each other and with the adjudicated grades; medians over the queries."""
    with steps.connect(db, wait_s=wait) as database:
        defined = steps.open_benchmark(database, benchmark)
        column = by or steps.choose_agreement_column(defined)
        if per_query:
            found = steps.measure_query_agreement(database, benchmark, column, negative=negative)
            steps.print_records([asdict(one) for one in found], as_json=json)
        else:
            rows = steps.measure_agreement(database, benchmark, column, negative=negative)
            steps.print_agreement(rows, steps.find_published_agreement(defined, column), as_json=json)


def add_comparing_commands(app: typer.Typer) -> None:
    """Give the application the commands of this module."""
    app.command()(compare)
    app.command()(agreement)
