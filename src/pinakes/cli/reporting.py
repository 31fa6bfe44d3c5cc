"""The commands that show what is in the database: `report`, `site`, `sql`, `shell`, `status`, `show run`."""

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pinakes.cli.option_sets import CommandGroup, Omit
from pinakes.cli.options import (
    DATA,
    AllRuns,
    BenchmarkName,
    CommonOptions,
    GuardFormulas,
    OutputFormat,
    QueryLimits,
    RunIds,
)
from pinakes.errors import InputError, PinakesError

if TYPE_CHECKING:  # a command's help does not wait for it
    from pinakes.report.own_reports import OwnReport

app = CommandGroup()
show_app = CommandGroup(no_args_is_help=True)
app.add_typer(show_app, name="show", help="Show where a stored thing is from.")


@dataclass(frozen=True, slots=True)
class RunChoice:
    """Which runs a report is about."""

    run_ids: list[int]
    all_runs: bool
    mode: str | None


@app.command()
def report(
    benchmark: BenchmarkName,
    run: RunIds = None,
    measure: Annotated[
        str | None, typer.Option("--measure", "-m", help="The measure to lead with. Default: the headline.")
    ] = None,
    all_runs: AllRuns = False,
    mode: Annotated[
        str | None,
        typer.Option(
            help="corrected or published: whose runs. Default: corrected, or the one that all have."
        ),
    ] = None,
    folder: Annotated[Path | None, typer.Option(help="Default: BENCHMARK-report in this folder.")] = None,
    latex: Annotated[
        bool, typer.Option("--latex", help="Also write tables for a paper, as LaTeX with booktabs.")
    ] = False,
    *,
    common: CommonOptions,
) -> None:
    """Print the results of a benchmark or a suite and write them as HTML and Markdown."""
    from pinakes.report.gather import gather_report
    from pinakes.report.own_reports import find_own_report
    from pinakes.report.present.report import print_report, write_report
    from pinakes.workload.suite import is_suite

    if is_suite(benchmark):
        if run or measure or all_runs or mode:
            raise InputError(
                "--run, --measure, --all-runs and --mode are of one benchmark; a suite has a table a mode."
            )
        _report_suite(benchmark, folder or Path(f"{benchmark}-report"), common, latex=latex)
        return
    own = find_own_report(benchmark)
    if own is not None:
        if measure:
            raise InputError(f"a report on {benchmark} shows all its measures; leave --measure out.")
        if latex:
            raise InputError(f"a report on {benchmark} has no tables for a paper; leave --latex out.")
        _report_own(own, benchmark, RunChoice(run or [], all_runs, mode), folder, common)
        return
    with common.connect_to_look() as database:
        found = gather_report(database, benchmark, run or [], all_runs=all_runs, measure=measure, mode=mode)
    paths = write_report(found, folder or Path(f"{benchmark}-report"), latex=latex)
    print_report(found, common.output)
    common.say(*(f"written: {path}" for path in paths))


def _report_suite(name: str, folder: Path, common: CommonOptions, *, latex: bool) -> None:
    from pinakes.report.present.suite import print_suite, write_suite
    from pinakes.report.suite.gather import gather_suite

    with common.connect_to_look() as database:
        found = gather_suite(database, name, progress=common.show_progress())
    paths = write_suite(found, folder, latex=latex)
    print_suite(found, common.output)
    common.say(*(f"written: {path}" for path in paths))


def _report_own(
    own: "OwnReport",
    name: str,
    chosen: "RunChoice",
    folder: Path | None,
    common: CommonOptions,
) -> None:
    from pinakes.workload.benchmark import open_benchmark

    with common.connect_to_look() as database:
        benchmark = open_benchmark(database, name)
        found = own.gather(database, benchmark, chosen.run_ids, all_runs=chosen.all_runs, mode=chosen.mode)
    paths = own.write(found, folder or Path(f"{name}-report"))
    own.print(found, common.output)
    common.say(*(f"written: {path}" for path in paths))


@dataclass(frozen=True, slots=True)
class RecipeOptions:
    """A question of the cookbook, in place of a query."""

    recipe: Annotated[
        str | None,
        typer.Option(help="Ask this question of the cookbook, with NAME=VALUE for each parameter."),
    ] = None
    recipes: Annotated[bool, typer.Option("--recipes", help="List the cookbook's questions.")] = False
    print_query: Annotated[
        bool, typer.Option("--print-query", help="Print the recipe's query, to be changed, and ask nothing.")
    ] = False


@app.command()
def site(
    benchmarks: Annotated[
        list[str] | None,
        typer.Argument(
            help="Benchmarks, or suites. Default: all that have evaluated runs.", metavar="[BENCHMARK…]"
        ),
    ] = None,
    folder: Annotated[Path, typer.Option(help="The folder of the pages.")] = Path("site"),
    most_queries: Annotated[
        int, typer.Option(min=1, help="Of a benchmark with more queries, so many of the lowest have a page.")
    ] = 10_000,
    *,
    common: Annotated[CommonOptions, Omit(*DATA)],
) -> None:
    """Write reports as a static site: pages of benchmarks, queries and pairs of systems, linked."""
    from pinakes.report.present.site import list_done, list_site_failures
    from pinakes.report.site.write import SiteRequest, write_site

    request = SiteRequest(benchmarks or [], most_queries)
    with common.connect_to_look() as database:
        done = write_site(database, folder, request, report=common.say)
    common.say(*list_done(done, folder))
    if done.failed:
        raise PinakesError(list_site_failures(done))


@app.command()
def sql(
    query: Annotated[
        list[str] | None,
        typer.Argument(
            help="One query, - to read it from standard input; with --recipe NAME=VALUE.", metavar="QUERY"
        ),
    ] = None,
    format: OutputFormat = None,
    guard_formulas: GuardFormulas = False,
    *,
    cookbook: RecipeOptions,
    limits: QueryLimits,
    common: Annotated[CommonOptions, Omit("guard_formulas", "timeout")],
) -> None:
    """Ask the database anything; nothing can be changed."""
    from pinakes.database.read_only import ask
    from pinakes.recipes import fill, find_recipe, list_recipes, parse_values
    from pinakes.report.terminal import print_rows

    asked = common.output
    out = replace(asked, form=format or asked.form, guard_formulas=guard_formulas)
    words = query or []
    if cookbook.recipes:
        if words or cookbook.recipe:
            raise InputError("--recipes lists all questions; leave out the rest.")
        print_rows(*list_recipes(), out)
        return
    if cookbook.print_query and not cookbook.recipe:
        raise InputError("--print-query prints a recipe's query; name it with --recipe.")
    if not cookbook.recipe and len(words) != 1:
        raise InputError(
            f"{len(words)} queries are given; expected one, in quotation marks, or --recipe NAME."
            if words
            else "no query is given; expected one, - for standard input, or --recipe NAME."
        )
    recipe = find_recipe(cookbook.recipe) if cookbook.recipe else None
    with common.connect_read_only() as database:
        if recipe is not None:
            text = fill(database, recipe, parse_values(words), common.say)
        else:
            text = sys.stdin.read() if words == ["-"] else words[0]
        if cookbook.print_query:
            typer.echo(text, nl=False)
            return
        with ask(database, text, limits.read()) as result:
            print_rows(result.columns, result.rows, out)


@app.command()
def shell(common: Annotated[CommonOptions, Omit(*DATA)]) -> None:
    """Open the database's own shell, duckdb or psql, to read: nothing can be changed by mistake.

    Where corpora are read in place (`init --over`) it is a prompt of Pinakes, which takes queries alone.
    """
    from pinakes.cli.chatter import say_error
    from pinakes.database.address import read_address
    from pinakes.database.in_place import list_folders
    from pinakes.database.shell import find_shell
    from pinakes.report.prompt import answer_questions

    with common.connect_read_only() as database:
        if list_folders(database):
            common.say(f"{database.url}: to read, files in place too; `;` ends a query, .quit ends this.")
            answer_questions(database, common.output, say_error)
            return
        found = find_shell(read_address(common.db))
        common.say(f"{database.url}: to read; \\q ends psql, .quit ends duckdb.")
    sys.stdout.flush()
    os.execve(found.words[0], found.words, {**os.environ, **found.variables})  # noqa: S606 - no shell reads it


@app.command()
def status(
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Also look for rows that name missing rows, and compare side indexes with their files.",
        ),
    ] = False,
    *,
    common: CommonOptions,
) -> None:
    """What the database holds: corpora, loads, encoders, side indexes, runs."""
    from pinakes.report.status import SideCheck, check_sides, find_orphans, print_status, read_status
    from pinakes.workload.benchmark import find_index_folder

    sides, orphans = SideCheck([], []), {}
    with common.connect_read_only() as database:
        found = read_status(database)
        if check:
            orphans = find_orphans(database)
            sides = check_sides(database, found, find_index_folder(database))
    print_status(found, common.output)
    common.say(*(f"{one}." for one in sides.unfinished))
    listed = ", ".join(f"{name} ({count})" for name, count in orphans.items())
    faults = [*([f"rows name rows that are not there: {listed}"] if listed else []), *sides.damaged]
    if faults:
        raise PinakesError(f"{'; '.join(faults)}.")


@show_app.command("run")
def show_run(
    run: Annotated[int, typer.Argument(help="The run's id.", metavar="RUN")],
    no_check: Annotated[
        bool,
        typer.Option(
            "--no-check", help="Leave out whether the texts are as they were, which reads them all."
        ),
    ] = False,
    all_files: Annotated[bool, typer.Option("--all-files", help="Every file of the corpora.")] = False,
    *,
    common: CommonOptions,
) -> None:
    """Where a run is from: files with digests, encoder, parameters, evaluations, library versions."""
    from pinakes.report.present.provenance import print_provenance
    from pinakes.run.provenance import gather_provenance

    with common.connect_to_look() as database:
        found = gather_provenance(database, run, check=not no_check)
    print_provenance(found, common.output, all_files=all_files)
