"""The command that shows where runs go wrong: `errors`.

It stands apart from the other commands (`cli`) for their number only.
"""

from pathlib import Path
from typing import Annotated

import typer

from pinakes.cli import steps
from pinakes.cli.options import BenchmarkName, DatabaseUrl, Quiet, Wait


def errors(
    benchmark: BenchmarkName,
    run: Annotated[
        list[int] | None,
        typer.Option(
            "--run",
            "-r",
            help="A run's id; the queries are ordered by the first. May be repeated. Default: the best run.",
            show_default=False,
        ),
    ] = None,
    query: Annotated[
        list[str] | None,
        typer.Option(
            help="A query's id. May be repeated. Default: all, of more than 200 the worst.",
            show_default=False,
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Candidates of each kind for each run and query.")] = 10,
    relevant_from: Annotated[
        int | None,
        typer.Option(
            help="The lowest grade that is relevant. Default: the rel of the benchmark's measures, or 1.",
            show_default=False,
        ),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Default: BENCHMARK-errors in this folder.", show_default=False)
    ] = None,
    db: DatabaseUrl = None,
    wait: Wait = 0.0,
    quiet: Quiet = False,
) -> None:
    """Show what runs rank too high and too low, query by query with its text, as one HTML page."""
    request = steps.ErrorRequest(benchmark, tuple(run or ()), tuple(query or ()), top, relevant_from)
    with steps.connect(db, wait_s=wait) as database:
        found = steps.gather_errors(database, request)
    paths = steps.write_errors(found, folder or Path(f"{benchmark}-errors"))
    steps.print_errors(found)
    for path in () if quiet else paths:
        typer.echo(f"written: {path}", err=True)


def add_error_command(app: typer.Typer) -> None:
    """Give the application the command of this module."""
    app.command()(errors)
