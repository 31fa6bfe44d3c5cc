"""Pools sampled and MDCR's candidates constructed, on DuckDB beside Postgres, from one synthetic release.

    python benchmarks/pools.py [--quick] [--papers N] [--folder F] [--json FILE] [--threads N]

Each database loads the release and ranks by sparse BM25, which is not among the rows. Then both setups are
sampled and candidates constructed, each by the command that a user types; seconds are by the clock, and of
the processor with those of the Postgres server, where that is on this machine. That both databases draw the
same rows is checked. The limit is one pass over the ids of all mentions; the first pass after the load stands
beside it.
Postgres: the server that `PINAKES_TEST_POSTGRES` names, or one started here as it is installed.
"""

import argparse
import hashlib
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from _commands import Steps
from _common import describe_machine, make_parser, report
from _server_time import read_server_s
from load import serve_postgres
from mdcr import BUILT, FIELDS, POOL_STEPS, draw, prepare

from pinakes.database import connect

DRAWN = {
    "pool_members": "benchmark, sample, position",
    "sampled_queries": "benchmark, query_id",
    "sampled_citations": "benchmark, query_id, paper_id",
    "constructed_candidates": "benchmark, query_id, source, position",
}
"""what is drawn -> its order"""
PASS = "SELECT BIT_XOR(citing_paper_id) AS citing, BIT_XOR(reference_id) AS cited FROM citations"


def main() -> None:
    parser = make_parser("Pools and candidates drawn on DuckDB beside Postgres.")
    parser.add_argument("--papers", type=int, help="papers (default: 6,000 with --quick, else 2,200,000)")
    parser.add_argument("--folder", type=Path, help="where to work, and a release that is there is used")
    options = parser.parse_args()
    options.papers = options.papers or (6_000 if options.quick else 2_200_000)
    options.year, options.encoder = 2024, "none"
    with tempfile.TemporaryDirectory(prefix="pinakes-pools-") as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        with serve_postgres(folder) as urls:
            addresses = {"duckdb": f"duckdb:///{folder / 'papers.duckdb'}", "postgresql": next(urls)}
            found = {name: measure(options, folder, url) for name, url in addresses.items()}
    digests = {name: digest for name, (_, digest) in found.items()}
    if len(set(digests.values())) > 1:
        sys.exit(f"the databases drew other rows: {digests}")
    rows = [{"database": name, **row} for name, (rows_of, _) in found.items() for row in rows_of]
    figures = {"papers": options.papers, "the same rows": "yes", **describe_machine()}
    report(f"Pools drawn from {options.papers} papers", rows, figures, options.json)


def measure(options: argparse.Namespace, folder: Path, url: str) -> tuple[list[dict[str, Any]], str]:
    """A row a step, with the pass over the mentions as a step, and the digest of what was drawn."""
    steps = _Timed(url, folder)
    prepare(steps, options, folder)
    first_s = time_pass(url)
    pass_s = time_pass(url)
    draw(steps, options)
    steps.pinakes("index", "index", FIELDS, "--system", "sparse_bm25")
    steps.pinakes("run", "run", FIELDS, "--system", "sparse_bm25")
    steps.pinakes("construct", "construct", BUILT, "--top-of", "negatives")
    rows = [{**row, "passes": row["s"] / pass_s} for row in steps.rows if row["step"] in POOL_STEPS]
    blank = {"processor s": 0.0, "server s": 0.0, "peak MiB": 0.0}
    passes = {"first pass over mentions": first_s, "pass over mentions": pass_s}
    rows += [{"step": name, "s": s, **blank, "passes": s / pass_s} for name, s in passes.items()]
    return rows, digest_drawn(url)


class _Timed(Steps):
    """Steps whose rows have the server's processor seconds, in `processor s` too."""

    def __init__(self, url: str, folder: Path) -> None:
        super().__init__(url, folder)
        self._url = url

    def run(self, step: str, command: list[str]) -> Any:
        before_s = read_server_s(self._url)
        found = super().run(step, command)
        server_s = read_server_s(self._url) - before_s
        row = self.rows[-1]
        row |= {"processor s": row["processor s"] + server_s, "server s": server_s}
        row["peak MiB"] = row.pop("peak MiB")
        return found


def time_pass(url: str) -> float:
    """Seconds of one pass over the ids of all mentions."""
    with connect(url) as database, database.read() as session:
        started = time.perf_counter()
        session.rows(PASS)
        return time.perf_counter() - started


def digest_drawn(url: str) -> str:
    """sha256 over all that was drawn, in order."""
    digest = hashlib.sha256()
    with connect(url) as database, database.read() as session:
        for table, order in DRAWN.items():
            for row in session.stream_rows(f"SELECT * FROM {table} ORDER BY {order}"):
                digest.update(repr(sorted(map(repr, row))).encode())
    return digest.hexdigest()


if __name__ == "__main__":
    main()
