"""The command line: options and exit codes, one small function a command, no logic.

Longer than other modules, since it is read as one list: every command with every option.

Data goes to stdout, chatter to stderr. Exit code 0: everything asked for was done; 1: it was not, and the
message says why; 2: the command line was wrong; 3: a defect of ours, with its traceback; 130: interrupted.
"""

import os
import sys
import traceback
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer

from pinakes import __version__
from pinakes.cli import steps
from pinakes.cli.comparing import add_comparing_commands
from pinakes.cli.errors import add_error_command
from pinakes.cli.indexing import add_indexing_commands
from pinakes.cli.loading import add_loading_commands
from pinakes.cli.options import (
    ENVIRONMENT,
    AllRuns,
    BenchmarkName,
    DatabaseUrl,
    Device,
    Distance,
    Json,
    Measures,
    Options,
    OutputFormat,
    PaperTemplate,
    Precision,
    QueryTemplate,
    Quiet,
    RunIds,
    Systems,
    Wait,
    parse_options,
)
from pinakes.cli.pools import add_pool_commands
from pinakes.cli.reproducing import add_reproducing_command
from pinakes.cli.sampling import add_sampling_command
from pinakes.cli.searching import add_searching_command
from pinakes.cli.systems import app as systems_app
from pinakes.errors import InputError, PinakesError

INTERRUPTED: Final = 130

app = typer.Typer(
    name="pinakes",
    help="Scholarly papers, references and citations in tables; retrieval benchmarks in SQL.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pinakes {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
def init(db: DatabaseUrl = None, wait: Wait = 0.0, quiet: Quiet = False) -> None:
    """Make the tables, and the views of every benchmark."""
    with steps.connect(db, wait_s=wait) as database:
        changed = steps.initialise(database)
        _tell(quiet, f"{database.url}: tables ready; views made or renewed: {', '.join(changed) or 'none'}")


add_loading_commands(app)
add_indexing_commands(app)
add_searching_command(app)
add_sampling_command(app)
add_pool_commands(app)
add_error_command(app)
add_reproducing_command(app)
app.add_typer(systems_app)


@app.command()
def run(
    benchmark: BenchmarkName,
    system: Systems,
    precision: Precision = "auto",
    distance: Distance = None,
    device: Device = None,
    option: Options = None,
    depth: Annotated[
        int | None, typer.Option(min=1, help="Papers kept for each query.", show_default=False)
    ] = None,
    query_template: QueryTemplate = None,
    paper_template: PaperTemplate = None,
    again: Annotated[bool, typer.Option("--again", help="Rank anew even where nothing changed.")] = False,
    db: DatabaseUrl = None,
    wait: Wait = 0.0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Rank a benchmark's candidates by one or more systems and store the rankings."""
    with steps.connect(db, wait_s=wait) as database:
        options = steps.SystemOptions(
            steps.find_index_folder(database), precision, distance, device, parse_options(option or [])
        )
        summaries = [
            steps.run(
                database,
                steps.RunRequest(benchmark, name, options, depth, query_template, paper_template, again),
                progress=steps.show_progress(quiet=quiet),
            )
            for name in system
        ]
    steps.print_records([asdict(summary) for summary in summaries], as_json=json)


@app.command("import-run")
def import_run(
    benchmark: BenchmarkName,
    files: Annotated[list[Path], typer.Argument(help="The files of one run.")],
    system: Annotated[str, typer.Option(help="What to call what ranked.")],
    format: Annotated[str, typer.Option(help="trec, csfcube or mdcr.")] = "trec",
    facet: Annotated[
        str | None,
        typer.Option(help="csfcube: the facet, where the file's name lacks it.", show_default=False),
    ] = None,
    unknown: Annotated[str, typer.Option(help="Papers that are no candidates: reject or create.")] = "reject",
    db: DatabaseUrl = None,
    wait: Wait = 0.0,
    json: Json = False,
) -> None:
    """Store a ranking that others made: a TREC run, CSFCube ranked pools, MDCR scores."""
    request = steps.ImportRequest(benchmark, system, files, format, facet, unknown)
    with steps.connect(db, wait_s=wait) as database:
        steps.print_records([asdict(steps.import_run(database, request))], as_json=json)


@app.command("export-run")
def export_run(
    benchmark: BenchmarkName,
    path: Annotated[Path, typer.Argument(help="The file to write.")],
    run: Annotated[int | None, typer.Option("--run", "-r", help="The run's id.", show_default=False)] = None,
    qrels: Annotated[bool, typer.Option("--qrels", help="Write the judgments instead of a run.")] = False,
    provenance: Annotated[
        bool, typer.Option("--provenance", help="Begin with comment lines that say what made the run.")
    ] = False,
    db: DatabaseUrl = None,
    wait: Wait = 0.0,
    quiet: Quiet = False,
) -> None:
    """Write a run, or a benchmark's judgments, as trec_eval reads them."""
    if (run is None) == (not qrels):
        raise InputError("expected either --run ID or --qrels.")
    with steps.connect(db, wait_s=wait) as database:
        count = (
            steps.export_qrels(database, benchmark, path)
            if run is None
            else steps.export_run(database, benchmark, run, path, with_provenance=provenance)
        )
    _tell(quiet, f"{path}: {count} lines")


@app.command()
def evaluate(
    benchmark: BenchmarkName,
    run: RunIds = None,
    measure: Measures = None,
    per_query: Annotated[bool, typer.Option("--per-query", help="Print each query's value.")] = False,
    db: DatabaseUrl = None,
    wait: Wait = 0.0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Score runs, store the scores and print them."""
    with steps.connect(db, wait_s=wait) as database:
        results = steps.evaluate(database, benchmark, run_ids=run or [], measures=measure or [])
    steps.print_scores(results, per_query=per_query, as_json=json)
    _tell(quiet, *steps.describe_coverage(results))


add_comparing_commands(app)


@app.command()
def report(
    benchmark: BenchmarkName,
    run: RunIds = None,
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure", "-m", help="The measure to lead with. Default: the headline.", show_default=False
        ),
    ] = None,
    all_runs: AllRuns = False,
    folder: Annotated[
        Path | None, typer.Option(help="Default: BENCHMARK-report in this folder.", show_default=False)
    ] = None,
    db: DatabaseUrl = None,
    wait: Wait = 0.0,
    quiet: Quiet = False,
) -> None:
    """Print a benchmark's results and write them as HTML and Markdown."""
    with steps.connect(db, wait_s=wait) as database:
        found = steps.gather_report(database, benchmark, run or [], all_runs=all_runs, measure=measure)
    paths = steps.write_report(found, folder or Path(f"{benchmark}-report"))
    steps.print_report(found)
    _tell(quiet, *(f"written: {path}" for path in paths))


@app.command()
def sql(
    query: Annotated[str, typer.Argument(help="One query; - reads it from standard input.")],
    format: OutputFormat = "table",
    db: DatabaseUrl = None,
    wait: Wait = 0.0,
) -> None:
    """Ask the database anything; nothing can be changed."""
    text = sys.stdin.read() if query == "-" else query
    with steps.connect_read_only(db, wait_s=wait) as database, steps.ask(database, text) as result:
        steps.print_rows(result.columns, result.rows, format)


@app.command()
def status(
    check: Annotated[
        bool, typer.Option("--check", help="Also look for rows that name missing rows.")
    ] = False,
    db: DatabaseUrl = None,
    wait: Wait = 0.0,
    json: Json = False,
) -> None:
    """What the database holds: corpora, loads, encoders, side indexes, runs."""
    with steps.connect_read_only(db, wait_s=wait) as database:
        found = steps.read_status(database)
        orphans = steps.find_orphans(database) if check else {}
    steps.print_status(found, as_json=json)
    if orphans:
        listed = ", ".join(f"{name} ({count})" for name, count in orphans.items())
        raise PinakesError(f"rows name rows that are not there: {listed}.")


@app.command()
def demo(
    folder: Annotated[Path, typer.Option(help="Where the database and the report go.")] = Path(
        "pinakes-demo"
    ),
    papers: Annotated[int, typer.Option(min=100, help="How many papers the corpus has.")] = 2000,
    quiet: Quiet = False,
) -> None:
    """The whole way on the bundled corpus, without a network: load, index, run, evaluate, report."""
    result = steps.run_demo(
        folder, papers=papers, progress=steps.show_progress(quiet=quiet), tell=lambda line: _tell(quiet, line)
    )
    steps.print_report(result.report)
    typer.echo(f"report: {next(path for path in result.paths if path.suffix == '.html').resolve()}")


def _tell(quiet: bool, *lines: str) -> None:
    if not quiet:
        for line in lines:
            typer.echo(line, err=True)


def main() -> None:
    """Run the command line and exit with its code."""
    code = run_command()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        code = code or 1
    # Everything is closed by now. Taking the interpreter down as usual would print pages about objects of
    # DuckDB's bindings that torch, once imported, keeps alive.
    os._exit(code)


def run_command(arguments: Sequence[str] | None = None) -> int:
    """The exit code of a command line; messages are on stderr."""
    try:
        app(arguments, auto_envvar_prefix=ENVIRONMENT)
    except PinakesError as error:
        typer.echo(f"pinakes: {error}", err=True)
        return 1
    except SystemExit as end:  # Typer's way out of everything, whichever click it carries
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if code == INTERRUPTED:
            typer.echo("pinakes: interrupted; start the same command again to go on.", err=True)
        return code
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except Exception:  # noqa: BLE001 (the one place where a defect of ours is caught)
        traceback.print_exc()
        typer.echo("pinakes: this is a defect of Pinakes; please report it with the lines above.", err=True)
        return 3
    return 0
