"""An encoder's vectors read from a database into matrices, as runs and searches do, on DuckDB and Postgres.

    python benchmarks/vectors.py [--quick] [--vectors N] [--dimensions N] [--rounds N] [--json FILE]

`read` is Pinakes'. The peer is the driver's rows: DuckDB's lists of Python, and on Postgres what pgvector's
package makes of them. The limit is the same rows out of the database and no more: DuckDB's Arrow table, a
bare COPY in binary. Medians of rounds in turns; what is read must be what was stored.
Postgres: the server that `PINAKES_TEST_POSTGRES` names, or one started here as it is installed.
"""

import argparse
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import sqlalchemy as sa
from _common import describe_machine, make_parser, measure_in_turns, report
from _vectors import make_matrix
from load import serve_postgres
from pgvector.psycopg import register_vector

from pinakes.database import Database, connect
from pinakes.matrices import to_lists, to_matrix
from pinakes.schema import create_schema, vectors_table
from pinakes.vectors.reading import BLOCK_ROWS


def main() -> None:
    parser = make_parser("Vectors read into matrices, on DuckDB and Postgres.")
    parser.add_argument("--vectors", type=int, help="how many (default: 100,000; 5,000 with --quick)")
    parser.add_argument("--dimensions", type=int, default=384)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    options.vectors = options.vectors or (5_000 if options.quick else 100_000)
    stored = make_matrix(options.vectors, options.dimensions, 1)
    with tempfile.TemporaryDirectory() as folder, serve_postgres(Path(folder)) as urls:
        places = {"duckdb": f"duckdb:///{folder}/vectors.duckdb", "postgresql": next(urls)}
        rows = [row for name, url in places.items() for row in measure(name, url, stored, options)]
    title = f"{options.vectors} vectors of {options.dimensions} numbers read into matrices"
    report(title, rows, describe_machine(), options.json)


def measure(name: str, url: str, stored: np.ndarray, options: argparse.Namespace) -> list[dict[str, Any]]:
    """A row for Pinakes, the peer and the limit."""
    with connect(url) as database:
        create_schema(database)
        table = store(database, stored)
        assert np.array_equal(read(database, table), stored)
        jobs = make_jobs(name, database, table)
        seconds = measure_in_turns(jobs, options.rounds)
    return [
        {"database": name, "what": what, "s": s, "vectors/s": len(stored) / s} for what, s in seconds.items()
    ]


def store(database: Database, stored: np.ndarray) -> sa.Table:
    table = vectors_table("benchmark", stored.shape[1])
    digests = pa.array([str(UUID(int=number)) for number in range(len(stored))])
    with database.begin() as session:
        table.create(session.connection)
        session.insert(table, pa.table({"text_digest": digests, "embedding": to_lists(stored)}))
    return table


def read(database: Database, table: sa.Table) -> np.ndarray:
    """The vectors in the order of their digests."""
    query = sa.select(table.c.text_digest, table.c.embedding).order_by(table.c.text_digest)
    with database.read() as session:
        return np.concatenate(
            [to_matrix(part["embedding"]) for part in session.stream_vectors(query, rows=BLOCK_ROWS)]
        )


def make_jobs(name: str, database: Database, table: sa.Table) -> Mapping[str, Callable[[], Any]]:
    query = f"SELECT text_digest, embedding FROM {table.name} ORDER BY text_digest"

    def fetch_rows() -> np.ndarray:
        with database.read() as session:
            raw = session.connection.connection.driver_connection
            if name == "postgresql":
                register_vector(raw)
            found = raw.execute(query).fetchall()
        return np.array(
            [row[1] if name == "duckdb" else row[1].to_numpy() for row in found], dtype=np.float32
        )

    return {
        "read": lambda: read(database, table),
        "rows of the driver": fetch_rows,
        "bare": lambda: read_bare(database, query),
    }


def read_bare(database: Database, query: str) -> None:
    """The rows out of the database and no more: DuckDB's Arrow table, a bare COPY in binary."""
    with database.read() as session:
        raw = session.connection.connection.driver_connection
        if database.name == "duckdb":
            raw.execute(query).to_arrow_table()
            return
        with raw.cursor().copy(f"COPY ({query}) TO STDOUT (FORMAT BINARY)") as copy:
            for _ in copy:
                pass


if __name__ == "__main__":
    main()
