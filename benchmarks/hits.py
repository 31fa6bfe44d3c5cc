"""A run's hits read from a database into columns, as `evaluate` does, on DuckDB beside Postgres.

    python benchmarks/hits.py [--quick] [--hits N] [--folder F] [--json FILE]

The hits are made by SQL: 1,000 papers a query. `read` is Pinakes'. The peer fetches rows of Python's own
values, of the first queries, and its seconds are for as many hits as Pinakes reads. The limit is one pass
over the same rows within the database, of which one row comes out. Seconds are by the clock and of the
processor, of a Postgres server of this machine too; the fastest of five, of the peer of two: the first read
of a process pays for its memory. What is read is added up and must be the same on both.
Postgres: the server that `PINAKES_TEST_POSTGRES` names, or one started here as it is installed.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa
from _common import describe_machine, make_parser, report
from _server_time import read_server_s
from load import serve_postgres

from pinakes.database import Database, connect
from pinakes.schema import create_schema, hits
from pinakes.tasks.hits.hits import Hits, read_hits

DEPTH = 1_000
PEER_QUERIES = 200
FILL = """
INSERT INTO hits (run_id, query_id, paper_id, rank, score)
SELECT
    1,
    'q' || CAST(queries.query AS TEXT),
    1 + (queries.query * 7919 + ranks.rank * 104729) % 2200000,
    ranks.rank,
    20 - ranks.rank * 0.01 - (queries.query % 97) * 0.0001
FROM generate_series(1, CAST(:queries AS BIGINT)) AS queries (query)
CROSS JOIN generate_series(1, 1000) AS ranks (rank)
"""
PASS = """
SELECT BIT_XOR(paper_id) AS papers, SUM(score) AS scores, MAX(query_id) AS query FROM hits WHERE run_id = 1
"""


def main() -> None:
    parser = make_parser("Hits read into columns, on DuckDB beside Postgres.")
    parser.add_argument("--hits", type=int, help="hits (default: 500,000 with --quick, else 5,000,000)")
    parser.add_argument("--folder", type=Path, help="where to work (default: a temporary folder)")
    options = parser.parse_args()
    options.hits = options.hits or (500_000 if options.quick else 5_000_000)
    rows: list[dict[str, Any]] = []
    with (
        tempfile.TemporaryDirectory(prefix="pinakes-hits-", dir=options.folder) as name,
        serve_postgres(Path(name)) as urls,
    ):
        for url in (f"duckdb:///{Path(name) / 'hits.duckdb'}", next(urls)):
            rows += measure(options, url)
    sums = {row.pop("sum") for row in rows if row["what"] == "read"}
    if len(sums) > 1:
        sys.exit(f"the databases gave other hits: {sums}")
    report(f"{options.hits:,} hits read", rows, {"hits": options.hits, **describe_machine()}, options.json)


def measure(options: argparse.Namespace, url: str) -> list[dict[str, Any]]:
    """The rows of one database."""
    queries = options.hits // DEPTH
    positions = {f"q{query}": query - 1 for query in range(1, queries + 1)}
    few = min(queries, PEER_QUERIES)
    with connect(url) as database:
        create_schema(database)
        with database.begin() as session:
            session.execute(FILL, {"queries": queries})
        database.tidy([hits.name])
        jobs: dict[str, Callable[[], Any]] = {
            "read": lambda: read_hits(database, 1, positions),
            "rows of Python": lambda: len(fetch_rows(database, few)),
            "a pass": lambda: fetch_pass(database),
        }
        rows = []
        for what, job in jobs.items():
            is_peer = what == "rows of Python"
            tries = 2 if is_peer else 5
            taken = min((take_time(url, job) for _ in range(tries)), key=lambda one: one["s"])
            times = queries / few if is_peer else 1
            found = taken.pop("found")
            scaled = {name: value * times for name, value in taken.items()}
            rows.append(
                {"database": database.name, "what": what, **scaled, "hits/s": queries * DEPTH / scaled["s"]}
            )
            if what == "read":
                rows[-1]["sum"] = add_up(found)
    return rows


def take_time(url: str, job: Callable[[], Any]) -> dict[str, Any]:
    """Seconds of the job by the clock and of the processor, and what it gives."""
    server_s, started, worked = read_server_s(url), time.perf_counter(), time.process_time()
    found = job()
    elapsed_s, worked_s = time.perf_counter() - started, time.process_time() - worked
    return {"s": elapsed_s, "processor s": worked_s + read_server_s(url) - server_s, "found": found}


def add_up(found: Hits) -> tuple[int, int, float]:
    """What hits add up to, whatever their order."""
    order = np.lexsort((found.paper_id, found.query))
    weights = np.arange(len(order)) % 1009
    return (
        len(order),
        int((found.paper_id[order] * weights).sum()),
        float(found.score[order].sum(dtype=np.float64)),
    )


def fetch_rows(database: Database, queries: int) -> list[Any]:
    """The hits of some queries as the driver gives them."""
    named = [f"q{query}" for query in range(1, queries + 1)]
    columns = sa.select(hits.c.query_id, hits.c.paper_id, hits.c.score)
    with database.read() as session:
        return list(session.connection.execute(columns.where(hits.c.query_id.in_(named))).all())


def fetch_pass(database: Database) -> Any:
    """One row of all hits."""
    with database.read() as session:
        return session.rows(PASS)


if __name__ == "__main__":
    main()
