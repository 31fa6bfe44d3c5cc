"""How fast a site of reports is written: pages a second, bytes, and the second time with nothing new.

    python benchmarks/site.py [--queries N] [--papers N] [--systems N] [--database FILE] [--quick]
                              [--json FILE]

A made-up collection in BEIR's format stands for SciFact: each query has 1 to 30 judged papers, each system
ranks 50 papers of which some are judged. The database is made first and is not in the times; the paired tests
of the systems are.
"""

import tempfile
import time
from pathlib import Path
from typing import Any

from _common import describe_machine, make_parser, report
from _ranked_data import prepare

from pinakes.database import Database, connect
from pinakes.report.site.write import SiteRequest, write_site


def main() -> None:
    parser = make_parser("A site of reports, written twice.")
    parser.add_argument("--queries", type=int, help="queries (10000; 500 with --quick)")
    parser.add_argument("--papers", type=int, help="papers (50000; 5000 with --quick)")
    parser.add_argument("--systems", type=int, default=5, help="systems that rank")
    parser.add_argument("--database", type=Path, help="a DuckDB file to make, or to take where it is there")
    options = parser.parse_args()
    queries = options.queries or (500 if options.quick else 10_000)
    papers = options.papers or (5_000 if options.quick else 50_000)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = options.database or folder / "site.duckdb"
        is_new = not file.exists()
        with connect(f"duckdb:///{file}") as database:
            if is_new:
                prepare(database, folder, queries, papers, options.systems)
            rows = [measure(database, folder / "site", visit) for visit in ("first", "again")]
    figures = {"queries": queries, "systems": options.systems, "machine": describe_machine()}
    report("A site of reports", rows, figures, options.json)


def measure(database: Database, folder: Path, visit: str) -> dict[str, Any]:
    """A row of figures: the whole site once."""
    started = time.perf_counter()
    files = write_site(database, folder, SiteRequest(["scifact"])).files
    seconds = time.perf_counter() - started
    return {
        "visit": visit,
        "files written": files.written,
        "unchanged": files.unchanged,
        "MB": round(files.total_bytes / 1e6, 1),
        "seconds": round(seconds, 1),
        "pages/s": round((files.written + files.unchanged) / seconds),
    }


if __name__ == "__main__":
    main()
