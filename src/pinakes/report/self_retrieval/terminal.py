"""What is printed of alternative-self retrieval; it draws nothing, so that `evaluate` loads no plots."""

from collections.abc import Iterable

from pinakes.database import Database
from pinakes.evaluate.evaluate import RunScores
from pinakes.queries.definition import read_benchmark
from pinakes.report.layout import Table
from pinakes.report.output import Output
from pinakes.report.self_retrieval.data import SelfReport
from pinakes.report.self_retrieval.gather import gather_scores
from pinakes.report.self_retrieval.tables import paper
from pinakes.report.self_retrieval.tables.side_by_side import compare_tables, keep_tables
from pinakes.report.terminal import STANDARD, print_tables
from pinakes.settings import read_settings
from pinakes.workload.benchmark import open_benchmark


def is_self_retrieval(name: str) -> bool:
    """Whether a benchmark asks for alternative-self retrieval; `UnknownNameError` where there is none."""
    return read_benchmark(name, read_settings().benchmark_folders).task == "self_retrieval"


def print_self_retrieval(report: SelfReport, out: Output = STANDARD) -> None:
    """Print the tables of scores and the warnings."""
    print_tables(list_lead_tables(report), out, warnings=report.warnings)


def print_self_scores(database: Database, name: str, results: Iterable[RunScores], out: Output) -> None:
    """Print the tables of the runs that were scored now, those of each mode apart."""
    benchmark = open_benchmark(database, name)
    modes: dict[str, list[int]] = {}
    for result in results:
        modes.setdefault(result.mode, []).append(result.run_id)
    for run_ids in modes.values():
        print_self_retrieval(gather_scores(database, benchmark, run_ids), out)


def list_lead_tables(report: SelfReport) -> list[Table]:
    """The tables that a terminal shows."""
    wanted = [
        paper.robustness_table(report),
        paper.task_table(),
        paper.normalised_table(),
        paper.return_table(report),
        paper.overlap_table(report),
    ]
    return [*compare_tables(report, wanted), *keep_tables([paper.capability_table(report)])]
