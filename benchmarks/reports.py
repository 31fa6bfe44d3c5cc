"""How long reports of many runs take: `pinakes report`, `errors` and `compare`, each a process of its own.

    python benchmarks/reports.py [--queries N] [--papers N] [--systems N] [--database FILE] [--quick]
                                 [--json FILE]

The collection is that of `site.py`: each query has 1 to 30 judged papers, each system ranks 50 papers. The
paired tests of all pairs of systems are in the times of `report` and `compare`. There is no peer.
"""

import tempfile
from multiprocessing import get_context
from pathlib import Path

from _commands import Steps
from _common import describe_machine, make_parser, report

COMMANDS = ("report", "errors", "compare")


def main() -> None:
    parser = make_parser("Reports of many runs.")
    parser.add_argument("--queries", type=int, help="queries (3800; 300 with --quick)")
    parser.add_argument("--papers", type=int, help="papers (50000; 5000 with --quick)")
    parser.add_argument("--systems", type=int, help="systems that rank (10; 4 with --quick)")
    parser.add_argument("--database", type=Path, help="a DuckDB file to make, or to take where it is there")
    options = parser.parse_args()
    queries = options.queries or (300 if options.quick else 3_800)
    papers = options.papers or (5_000 if options.quick else 50_000)
    systems = options.systems or (4 if options.quick else 10)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        url = f"duckdb:///{(options.database or folder / 'reports.duckdb').resolve()}"
        if options.database is None or not options.database.exists():
            # in a process of its own: a step's peak memory is at least what this one holds
            made = get_context("spawn").Process(target=make, args=(url, folder, queries, papers, systems))
            made.start()
            made.join()
            if made.exitcode:
                raise SystemExit(f"the collection was not made; its process ended with {made.exitcode}")
        steps = Steps(url, folder)
        for command in COMMANDS:
            places = [] if command == "compare" else ["--folder", str(folder / command)]
            steps.pinakes(command, command, "scifact", *places)
    figures = {"queries": queries, "systems": systems, **describe_machine()}
    report(f"Reports of {systems} runs over {queries} queries", steps.rows, figures, options.json)


def make(url: str, folder: Path, queries: int, papers: int, systems: int) -> None:
    """Fill a new database."""
    from _ranked_data import prepare

    from pinakes.database import connect

    with connect(url) as database:
        prepare(database, folder, queries, papers, systems)


if __name__ == "__main__":
    main()
