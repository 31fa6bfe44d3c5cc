"""The command that reproduces a paper's tables: every baseline of a benchmark, and the report."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from pinakes.cli import steps
from pinakes.cli.options import BenchmarkName, DatabaseUrl, Device, Json, Quiet, Wait
from pinakes.errors import RunError


def add_reproducing_command(app: typer.Typer) -> None:
    """Add `pinakes reproduce`."""
    app.command("reproduce")(reproduce)


def reproduce(
    benchmark: BenchmarkName,
    only: Annotated[
        list[str] | None,
        typer.Option(help="A baseline's name; a wrong one lists them. May be repeated.", show_default=False),
    ] = None,
    precision: Annotated[
        str, typer.Option(help="Of encoders: fp32, bf16, fp16 or auto, the fastest here.")
    ] = "fp32",
    device: Device = None,
    download: Annotated[
        bool, typer.Option("--download", help="Fetch weights that are not on this machine.")
    ] = False,
    folder: Annotated[
        Path | None, typer.Option(help="Of the report. Default: BENCHMARK-report here.", show_default=False)
    ] = None,
    db: DatabaseUrl = None,
    wait: Wait = 0.0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Index, run and score every baseline of a benchmark, beside the published figures."""
    request = steps.ReproduceRequest(benchmark, only or (), precision, device, download)
    with steps.connect(db, wait_s=wait) as database:
        made = steps.reproduce(
            database,
            request,
            progress=steps.show_progress(quiet=quiet),
            tell=lambda line: None if quiet else typer.echo(line, err=True),
        )
        run_ids = [one.run_id for one in made if one.run_id is not None]
        if not run_ids:
            reasons = "; ".join(f"{one.baseline}: {one.left_out}" for one in made)
            raise RunError(f"no baseline of {benchmark} can be run here. {reasons}")
        report = steps.gather_report(database, benchmark, run_ids)
    paths = steps.write_report(report, folder or Path(f"{benchmark}-report"))
    if json:
        steps.print_records([asdict(one) for one in made], as_json=True)
    else:
        steps.print_report(report)
    if not quiet:
        for path in paths:
            typer.echo(f"written: {path}", err=True)
