"""Rows of papers read from a database into Arrow tables, as runs and indexers do, on DuckDB and Postgres.

    python benchmarks/rows.py [--quick] [--papers N] [--rounds N] [--json FILE]

`ids` are what a run reads of its candidates (number, the source's id, digest, whether there is a text),
`texts` what an indexer reads (number, title and abstract). `read` is Pinakes'. The peer is the driver's rows,
made columns of Arrow. The limit is the same rows out of the database and no more: DuckDB's Arrow table, a
bare COPY in binary. Medians of rounds in turns; what is read must be what was stored.
Postgres: the server that `PINAKES_TEST_POSTGRES` names, or one started here as it is installed.
"""

import argparse
import hashlib
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import sqlalchemy as sa
from _common import describe_machine, make_parser, measure_in_turns, report
from load import serve_postgres
from vectors import read_bare

from pinakes.database import Database, connect

WORDS = 150
"""of an abstract"""
KINDS = {
    "ids": ("paper_id", "source_id", "text_digest", "has_text"),
    "texts": ("paper_id", "title", "abstract"),
}
PAPERS = sa.Table(
    "papers_read",
    sa.MetaData(),
    sa.Column("paper_id", sa.BigInteger, primary_key=True, autoincrement=False),
    *(sa.Column(name, sa.Text) for name in ("source_id", "text_digest", "title", "abstract")),
    sa.Column("has_text", sa.Boolean),
)


def main() -> None:
    parser = make_parser("Rows of papers read into Arrow tables, on DuckDB and Postgres.")
    parser.add_argument("--papers", type=int, help="how many (default: 500,000; 20,000 with --quick)")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    options.papers = options.papers or (20_000 if options.quick else 500_000)
    stored = make_papers(options.papers)
    with tempfile.TemporaryDirectory() as folder, serve_postgres(Path(folder)) as urls:
        places = {"duckdb": f"duckdb:///{folder}/papers.duckdb", "postgresql": next(urls)}
        rows = [row for name, url in places.items() for row in measure(name, url, stored, options)]
    report(f"{options.papers} papers read into Arrow tables", rows, describe_machine(), options.json)


def make_papers(papers: int) -> pa.Table:
    generator = np.random.default_rng(1)
    words = np.array([md5(str(number))[: 3 + number % 9] for number in range(5_000)])
    abstracts = [" ".join(words[chosen]) for chosen in generator.integers(0, 5_000, (papers, WORDS))]
    numbers = range(1, papers + 1)
    return pa.table(
        {
            "paper_id": pa.array(numbers, pa.int64()),
            "source_id": [str(number * 7919 % 100_000_007) for number in numbers],
            "text_digest": list(map(md5, abstracts)),
            "title": [abstract[:70] for abstract in abstracts],
            "abstract": abstracts,
            "has_text": [number % 9 > 0 for number in numbers],
        }
    )


def md5(text: str) -> str:
    return hashlib.md5(text.encode()).hexdigest()


def measure(name: str, url: str, stored: pa.Table, options: argparse.Namespace) -> list[dict[str, Any]]:
    """A row of each kind for Pinakes, the peer and the limit."""
    rows = []
    with connect(url) as database:
        with database.begin() as session:
            PAPERS.create(session.connection)
            session.insert(PAPERS, stored)
        database.tidy([PAPERS.name])
        for kind, names in KINDS.items():
            assert read(database, names).equals(stored.select(names))
            seconds = measure_in_turns(make_jobs(database, names), options.rounds)
            rows += [
                {"database": name, "kind": kind, "what": what, "s": s, "rows/s": round(len(stored) / s)}
                for what, s in seconds.items()
            ]
    return rows


def read(database: Database, names: tuple[str, ...]) -> pa.Table:
    query = sa.select(*(PAPERS.c[name] for name in names)).order_by(PAPERS.c.paper_id)
    with database.read() as session:
        return session.fetch_arrow(query)


def make_jobs(database: Database, names: tuple[str, ...]) -> Mapping[str, Callable[[], Any]]:
    query = f"SELECT {', '.join(names)} FROM {PAPERS.name} ORDER BY paper_id"

    def fetch_rows() -> pa.Table:
        with database.read() as session:
            found = session.connection.connection.driver_connection.execute(query).fetchall()
        return pa.table(list(map(pa.array, zip(*found, strict=True))), names=list(names))

    return {
        "read": lambda: read(database, names),
        "rows of the driver": fetch_rows,
        "bare": lambda: read_bare(database, query),
    }


if __name__ == "__main__":
    main()
