"""The whole way on the bundled corpus: load, index, run, evaluate, compare, report. No network is opened."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pinakes.database import connect
from pinakes.evaluate.evaluate import evaluate
from pinakes.index.index import index
from pinakes.load.load import LoadRequest, load
from pinakes.progress import Progress
from pinakes.queries.install import initialise
from pinakes.report.data import BenchmarkReport
from pinakes.report.gather import gather_report, write_report
from pinakes.run.run import RunRequest, run
from pinakes.systems.base import SystemOptions
from pinakes.workload.benchmark import find_index_folder

BENCHMARK: Final = "synthetic"
SYSTEMS: Final = ("bm25", "tfidf", "minilm")
PAPERS: Final = 2000


@dataclass(frozen=True, slots=True)
class DemoResult:
    """What a demo made: the report and the files that it was written to."""

    report: BenchmarkReport
    paths: list[Path]
    database: Path


def run_demo(
    folder: Path,
    *,
    papers: int = PAPERS,
    progress: Progress | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> DemoResult:
    """Make a database in the folder and take the bundled corpus through every step; made twice, it is found.

    Args:
        folder: where the database, its indexes and the report go; made if it is missing.
        papers: how many papers the corpus has.
        progress: what is told how far a long step is.
        tell: what is told each step.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "pinakes.duckdb"
    with connect(f"duckdb:///{file}") as database:
        tell(f"database: {file}")
        initialise(database)
        summary = load(
            database,
            LoadRequest("synthetic", options={"papers": str(papers), "seed": "1"}),
            progress=progress,
        )
        counts = f"{summary.rows_loaded} loaded + {summary.rows_rejected} rejected"
        tell(f"load: {summary.rows_in} records in = {counts}")
        options = SystemOptions(find_index_folder(database))
        for system in SYSTEMS:
            indexed = index(database, BENCHMARK, system, options=options, progress=progress)
            counts = f"{indexed.added} added, {indexed.existing} there"
            tell(f"index {system}: {counts}, {indexed.elapsed_s:.1f} s")
            ranked = run(database, RunRequest(BENCHMARK, system, options), progress=progress)
            tell(f"run {system}: {ranked.hit_count} hits for {ranked.queries_answered} queries")
        evaluate(database, BENCHMARK)
        report = gather_report(database, BENCHMARK)
        return DemoResult(report, list(write_report(report, folder / "report")), file)
