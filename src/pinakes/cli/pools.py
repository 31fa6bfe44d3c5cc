"""The commands that make pools and write them out: `construct`, `export-pools`.

They stand apart from the other commands (`cli`) for their number of options only.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from pinakes.cli import steps
from pinakes.cli.options import BenchmarkName, DatabaseUrl, Json, Quiet, RunIds, Wait


def construct(
    benchmark: BenchmarkName,
    drawn_from: Annotated[
        str | None,
        typer.Option(
            "--from", help="The benchmark whose queries, pools and runs are taken.", show_default=False
        ),
    ] = None,
    run: RunIds = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="A system to draw negatives from. May be repeated. Default: those whose best negatives the "
            "others share least.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[str | None, typer.Option(help="Which of the possible draws.", show_default=False)] = None,
    db: DatabaseUrl = None,
    wait: Wait = 0.0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Construct a benchmark's candidates by type, from stored runs and the citation graph."""
    request = steps.ConstructionRequest(benchmark, drawn_from, tuple(run or ()), tuple(model or ()), seed)
    with steps.connect(db, wait_s=wait) as database:
        summary = steps.construct(database, request, progress=steps.show_progress(quiet=quiet))
    steps.print_construction(summary, as_json=json)


def export_pools(
    benchmark: BenchmarkName,
    folder: Annotated[Path, typer.Argument(help="Where the two files go.")],
    db: DatabaseUrl = None,
    wait: Wait = 0.0,
    json: Json = False,
) -> None:
    """Write a benchmark's pools by candidate type, and their texts, as MDCR publishes them."""
    with steps.connect(db, wait_s=wait) as database:
        written = steps.export_pools(database, benchmark, folder)
    steps.print_records([{"folder": str(folder), **asdict(written)}], as_json=json)


def add_pool_commands(app: typer.Typer) -> None:
    """Give the application the commands of this module."""
    app.command()(construct)
    app.command("export-pools")(export_pools)
