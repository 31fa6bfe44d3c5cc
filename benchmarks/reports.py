"""How long reports of many runs take: `pinakes report`, `errors` and `compare`, each a process of its own.

    python benchmarks/reports.py [--queries N] [--papers N] [--systems N] [--database FILE] [--quick]
                                 [--json FILE]

The collection is that of `site.py`: each query has 1 to 30 judged papers, each system ranks 50 papers. The
paired tests of all pairs of systems are in the times of `report` and `compare`. There is no peer.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from _common import describe_machine, make_parser, report
from _ranked_data import prepare

from pinakes.database import connect

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
        file = options.database or folder / "reports.duckdb"
        if not file.exists():
            with connect(f"duckdb:///{file}") as database:
                prepare(database, folder, queries, papers, systems)
        rows = [measure(file.resolve(), folder, command) for command in COMMANDS]
    figures = {"queries": queries, "systems": systems, **describe_machine()}
    report(f"Reports of {systems} runs over {queries} queries", rows, figures, options.json)


def measure(file: Path, folder: Path, command: str) -> dict[str, Any]:
    """A row of figures: one command in a new process."""
    code = "import sys; from pinakes.cli import main; main()"
    words = [sys.executable, "-c", code, command, "scifact", "--db", str(file)]
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "command": command,
        "wall s": seconds,
        "cpu s": after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime,
        "peak MiB": after.ru_maxrss / 1024,  # of the largest process so far
    }


if __name__ == "__main__":
    main()
