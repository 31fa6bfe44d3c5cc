"""How fast the lines of a TREC run become a stored run: `pinakes import-run` against parsers of such files.

    python benchmarks/import_run.py [--quick] [--lines N] [--papers N] [--json FILE] [--threads N]

A run of 1,000 made-up hits a query, in the order that a search writes them, is imported into a DuckDB file
that has the corpus: read, checked against the benchmark, ranked again as trec_eval does, stored. `parse` is
its reading and ranking alone. The peers read the same file into memory and check nothing: `pandas.read_csv`,
and `pytrec_eval.parse_run`, which evaluates from the dictionaries that it makes. The limits: Arrow's CSV
reader, and DuckDB's `CREATE TABLE AS SELECT … FROM read_csv` into a file. Each is in a process of its own.
The same import into Postgres stands beside a bare binary COPY of the same rows into a table with the same
key, in the order of that; its processor seconds are those of the server too. Postgres: the server that
`PINAKES_TEST_POSTGRES` names, or one started here as it is installed. Leaves out: compressed files.
"""

import argparse
import itertools
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from _common import describe_machine, make_parser, report
from _server_time import read_server_s
from load import serve_postgres

DEPTH = 1000
CORPUS = "scifact"
"""whose bundled benchmark has a shared pool"""
COLUMNS = ("query", "iteration", "document", "rank", "score", "tag")
ROUNDS = 3


def main() -> None:
    parser = make_parser("A TREC run imported, against parsers of TREC runs.")
    parser.add_argument(
        "--lines", type=int, help="lines of the run (default: 2,000,000; 200,000 with --quick)"
    )
    parser.add_argument("--papers", type=int, help="papers (default: 200,000; 20,000 with --quick)")
    parser.add_argument("--worker", choices=tuple(WORKERS), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--postgres", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.lines = options.lines or (200_000 if options.quick else 2_000_000)
    options.papers = options.papers or (20_000 if options.quick else 200_000)
    if options.worker:
        measured = WORKERS[options.worker](options)
        print(json.dumps({**measured, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
        return
    with tempfile.TemporaryDirectory(prefix="pinakes-import-") as name, serve_postgres(Path(name)) as urls:
        options.postgres = next(urls)
        # In a process too, since one begins with the largest memory of the one that starts it.
        run_worker("prepare", name, options)
        found = {worker: run_worker(worker, name, options) for worker in WORKERS if worker != "prepare"}
    lines = options.lines // DEPTH * DEPTH
    wrong = {worker: one["lines"] for worker, one in found.items() if one["lines"] != lines}
    if wrong:
        sys.exit(f"not all {lines} lines were read: {wrong}")
    rows = [
        {
            "what": worker,
            "seconds": one["seconds"],
            "processor s": one["processor_s"],
            "lines/s": round(lines / one["seconds"]),
            "peak MiB": round(one["peak"]),
        }
        for worker, one in found.items()
    ]
    figures = {"lines": lines, "papers": options.papers, "threads": options.threads, **describe_machine()}
    report(f"A run of {lines} lines", rows, figures, options.json)


def run_worker(name: str, folder: str, options: argparse.Namespace) -> dict[str, Any]:
    command = [sys.executable, __file__, "--worker", name, "--folder", folder]
    for option in ("threads", "lines", "papers", "postgres"):
        command += [f"--{option}", str(getattr(options, option))]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    print(f"{name}: {found}", file=sys.stderr)
    return found


def prepare(options: argparse.Namespace) -> dict[str, Any]:
    """Make the database with the corpus, and the run."""
    from pinakes.database import connect
    from pinakes.load.load import LoadRequest, load
    from pinakes.queries.install import initialise

    folder, papers, queries = options.folder, options.papers, options.lines // DEPTH
    random, source = np.random.default_rng(1), folder / "beir"
    (source / "qrels").mkdir(parents=True)
    ids = [str(number) for number in random.choice(10**8, papers, replace=False)]
    with (source / "corpus.jsonl").open("wb") as stream:
        stream.writelines(orjson.dumps({"_id": one, "title": "a", "text": "b"}) + b"\n" for one in ids)
    with (source / "queries.jsonl").open("wb") as stream:
        stream.writelines(orjson.dumps({"_id": f"q{one}", "text": "a"}) + b"\n" for one in range(queries))
    with (source / "qrels" / "test.tsv").open("w", encoding="utf-8") as lines:
        lines.write("query-id\tcorpus-id\tscore\n")
        lines.writelines(f"q{query}\t{ids[query]}\t1\n" for query in range(queries))
    with (folder / "run.trec").open("w", encoding="utf-8") as lines:
        for query in range(queries):
            found = random.choice(papers, DEPTH, replace=False)
            scores = -np.sort(-random.random(DEPTH).astype(np.float32) * 20)
            lines.writelines(
                f"q{query} Q0 {ids[one]} {rank} {score:.6f} made\n"
                for rank, (one, score) in enumerate(zip(found.tolist(), scores.tolist(), strict=True), 1)
            )
    for url in (f"duckdb:///{folder / 'papers.duckdb'}", options.postgres):
        with connect(url) as database:
            initialise(database)
            load(database, LoadRequest("beir", source, corpus=CORPUS))
    return {"lines": queries * DEPTH}


def import_whole(options: argparse.Namespace) -> dict[str, Any]:
    return import_into(options, f"duckdb:///{options.folder / 'papers.duckdb'}")


def import_into_postgres(options: argparse.Namespace) -> dict[str, Any]:
    return import_into(options, options.postgres)


def import_into(options: argparse.Namespace, url: str) -> dict[str, Any]:
    from pinakes.database import connect
    from pinakes.run.import_run import ImportRequest, import_run

    with connect(url) as database:
        numbers = itertools.count()  # another name each time, since a run that is there is not imported

        def read() -> int:
            request = ImportRequest(CORPUS, f"made{next(numbers)}", [options.folder / "run.trec"])
            return import_run(database, request).hit_count

        return take_time(read, url)


def copy_into_postgres(options: argparse.Namespace) -> dict[str, Any]:
    """Bytes that were made before, of the run that was imported last."""
    import pyarrow as pa
    import sqlalchemy as sa

    from pinakes.database import connect
    from pinakes.database.binary_copy import HEADER, TRAILER, encode_tuples
    from pinakes.schema import hits

    types = ["bigint", "text", "bigint", "integer", "double precision"]
    with connect(options.postgres) as database:
        with database.read() as session:
            newest = sa.select(sa.func.max(hits.c.run_id)).scalar_subquery()
            of_newest = sa.select(hits).where(hits.c.run_id == newest)
            rows: pa.Table = session.fetch_arrow(of_newest.order_by(hits.c.query_id, hits.c.paper_id))
        parts = [encode_tuples(part, types) for part in rows.to_batches(max_chunksize=20_000)]

        def copy() -> int:
            with database.begin() as session:
                session.execute("DROP TABLE IF EXISTS bare_hits")
                session.execute("CREATE TABLE bare_hits (LIKE hits INCLUDING INDEXES)")
                cursor = session.connection.connection.cursor()
                with cursor.copy("COPY bare_hits FROM STDIN (FORMAT BINARY)") as target:
                    for part in (HEADER, *parts, TRAILER):
                        target.write(part)
            return len(rows)

        return take_time(copy, options.postgres)


def parse(options: argparse.Namespace) -> dict[str, Any]:
    from pinakes.run.files.formats import read_ranking
    from pinakes.run.files.ranked import rank_rows

    return take_time(lambda: len(rank_rows([("run", read_ranking(options.folder / "run.trec")[1])]).ranks))


def read_by_pandas(options: argparse.Namespace) -> dict[str, Any]:
    import pandas as pd

    kinds = {"query": str, "document": str, "score": float, "tag": str}
    return take_time(
        lambda: len(pd.read_csv(options.folder / "run.trec", sep=" ", names=list(COLUMNS), dtype=kinds))
    )


def read_by_pytrec_eval(options: argparse.Namespace) -> dict[str, Any]:
    import pytrec_eval

    def read() -> int:
        with (options.folder / "run.trec").open(encoding="utf-8") as lines:
            return sum(map(len, pytrec_eval.parse_run(lines).values()))

    return take_time(read)


def read_by_arrow(options: argparse.Namespace) -> dict[str, Any]:
    import pyarrow as pa
    from pyarrow import csv

    pa.set_cpu_count(options.threads)
    given = (csv.ReadOptions(column_names=COLUMNS), csv.ParseOptions(delimiter=" "))
    return take_time(lambda: csv.read_csv(options.folder / "run.trec", *given).num_rows)


def read_by_duckdb(options: argparse.Namespace) -> dict[str, Any]:
    import duckdb

    kinds = {"query": "VARCHAR", "i": "VARCHAR", "document": "VARCHAR", "rank": "INT", "score": "DOUBLE"}
    listed = ", ".join(f"'{name}': '{kind}'" for name, kind in {**kinds, "tag": "VARCHAR"}.items())

    def read() -> int:
        (options.folder / "limit.duckdb").unlink(missing_ok=True)
        with duckdb.connect(
            str(options.folder / "limit.duckdb"), config={"threads": options.threads}
        ) as connection:
            file = options.folder / "run.trec"
            source = f"read_csv('{file}', delim = ' ', header = false, columns = {{{listed}}})"
            connection.execute(f"CREATE TABLE hits AS SELECT query, document, rank, score FROM {source}")
            counted: int = connection.execute("SELECT COUNT(*) FROM hits").fetchone()[0]
            return counted

    return take_time(read)


def take_time(job: Callable[[], int], url: str = "") -> dict[str, Any]:
    """The best of some rounds, by the clock; `lines` as the last gave it.

    A Postgres server at the URL is counted among the processor's seconds.
    """
    best = (float("inf"), 0.0)
    for _ in range(ROUNDS):
        before_s, started, worked = read_server_s(url), time.perf_counter(), time.process_time()
        lines = job()
        elapsed_s, worked_s = time.perf_counter() - started, time.process_time() - worked
        best = min(best, (elapsed_s, worked_s + read_server_s(url) - before_s))
    return {"seconds": best[0], "processor_s": best[1], "lines": lines}


WORKERS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "prepare": prepare,
    "import-run": import_whole,
    "import-run, Postgres": import_into_postgres,
    "bare COPY, Postgres": copy_into_postgres,
    "parse": parse,
    "pandas read_csv": read_by_pandas,
    "pytrec_eval parse_run": read_by_pytrec_eval,
    "Arrow's CSV reader": read_by_arrow,
    "DuckDB read_csv": read_by_duckdb,
}

if __name__ == "__main__":
    main()
