"""Searching: the processor's seconds of one search in a new process, and queries a second in one that stays.

    python benchmarks/search.py [--quick] [--json FILE] [--papers N] [--systems minilm,bm25] [--postgres]

A search in a new process pays for Python and its imports first; `limit` is a process that only imports what
the system cannot do without. With --postgres searches in new processes are measured there too; the seconds
are those of the command, not of the server.
Peers search the same documents with the same queries in the same run: tantivy
through its own Python package with its own analysis, and faiss's flat index behind sentence-transformers.
Leaves out: the quality of rankings, and filters. `_search_data` says what the vectors are.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from _common import describe_machine, format_table, make_parser, report

K: Final = 10
TEXT: Final = "neural citation graph"
_BASE: Final = "import typer, typer._adapters, sqlalchemy, duckdb_engine, numpy, pyarrow"
LIMITS: Final = {
    "bm25": f"{_BASE}, tantivy",
    "sparse_bm25": f"{_BASE}, pyarrow.compute, numba",
    "minilm": f"{_BASE}, numba, torch, tokenizers, safetensors",
}
"""system -> what no search by it can do without; Typer imports its adapters, and pydantic, for any option"""
ONE_BY_ONE: Final = 50


def main() -> None:
    options = read_options()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    from _search_data import make_database, read_queries

    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        file = options.database or Path(name) / "search.duckdb"
        systems = options.systems.split(",")
        if not file.exists():
            make_database(file, options.papers, systems)
        rows = [measure_cold(str(file), system, options.rounds) for system in systems]
        if options.postgres:
            rows += measure_on_postgres(Path(name), options.papers, systems, options.rounds)
        queries = read_queries(file, options.queries)
        rates = [row for system in systems for row in measure_rates(file, system, queries)]
    title = f"one search in a new process, {options.papers} papers"
    stream = sys.stderr if options.json == "-" else sys.stdout
    print(f"{options.queries} queries in one process, the best {K}\n\n{format_table(rates)}\n", file=stream)
    named = {f"{row['system']}: {row['program']}, queries/s": row["queries/s"] for row in rates}
    report(title, rows, {**named, **describe_machine()}, options.json)


def read_options() -> argparse.Namespace:
    parser = make_parser("Searches in new processes, and many in one.")
    parser.add_argument("--papers", type=int, help="papers (default: 200,000; 5,000 with --quick)")
    parser.add_argument("--queries", type=int, help="queries (default: 4,000; 400 with --quick)")
    parser.add_argument("--rounds", type=int, default=5, help="processes, of which the median is taken")
    parser.add_argument("--systems", default=",".join(LIMITS), help="which systems, with commas")
    parser.add_argument("--database", type=Path, help="a DuckDB file that is kept; made where it is missing")
    parser.add_argument("--postgres", action="store_true", help="one search in a new process there too")
    parser.add_argument("--scratch", help="where the files of the run lie")
    options = parser.parse_args()
    options.papers = options.papers or (5_000 if options.quick else 200_000)
    options.queries = options.queries or (400 if options.quick else 4_000)
    return options


def measure_on_postgres(folder: Path, papers: int, systems: list[str], rounds: int) -> list[dict[str, Any]]:
    """As `measure_cold` on a server that is started for it."""
    from _search_data import make_database
    from load import serve_postgres

    os.environ["PINAKES_INDEX_FOLDER"] = str(folder / "postgres.indexes")
    try:
        with serve_postgres(folder) as urls:
            url = next(urls)
            make_database(url, papers, systems)
            return [measure_cold(url, system, rounds) for system in systems]
    finally:
        del os.environ["PINAKES_INDEX_FOLDER"]


def measure_cold(url: str, system: str, rounds: int) -> dict[str, Any]:
    """The medians of new processes; the first, which remembers and compiles, is not counted."""
    words = ["search", "synthetic", TEXT, "-s", system, "-k", str(K), "--json", "--db", url, "-q"]
    program = f"import sys; sys.argv[1:] = {words!r}; from pinakes.cli import main; main()"
    first_s, _ = run_process(program)
    found = [run_process(program) for _ in range(rounds)]
    limits = [run_process(f"import os; {LIMITS[system]}; os._exit(0)")[0] for _ in range(rounds)]
    cpu_s, wall_s = (statistics.median(values) for values in zip(*found, strict=True))
    limit_s = statistics.median(limits)
    return {
        "system": system,
        "database": "postgres" if url.startswith("postgresql") else "duckdb",
        "first cpu s": first_s,
        "cpu s": cpu_s,
        "wall s": wall_s,
        "limit cpu s": limit_s,
        "times limit": cpu_s / limit_s,
    }


def run_process(program: str) -> tuple[float, float]:
    """Seconds of the processor, user and system, and of the clock."""
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"the search ended with {process.returncode}")
    return used.ru_utime + used.ru_stime, time.perf_counter() - started


def measure_rates(file: Path, system: str, queries: list[str]) -> list[dict[str, Any]]:
    """Rows of the searcher, all queries at once and one by one, and of the peer."""
    from pinakes import connect

    started = time.perf_counter()
    searcher = connect(file).searcher("synthetic", system=system)
    searcher.search(queries[:2])
    open_s = time.perf_counter() - started
    few = queries[:ONE_BY_ONE]
    jobs: dict[str, tuple[Callable[[], Any], int]] = {
        "pinakes, together": (lambda: searcher.search(queries, k=K), len(queries)),
        "pinakes, one by one": (lambda: [searcher.search(text, k=K) for text in few], len(few)),
    }
    if system in PEERS:
        jobs |= PEERS[system](file, queries)
    return [{"system": system, "program": name, "open s": open_s, **rate(*job)} for name, job in jobs.items()]


def rate(job: Callable[[], Any], count: int) -> dict[str, float]:
    wall, processor = time.perf_counter(), time.process_time()
    job()
    return {
        "queries/s": count / (time.perf_counter() - wall),
        "queries/cpu s": count / (time.process_time() - processor),
    }


def read_texts(file: Path) -> list[tuple[int, str]]:
    import duckdb

    with duckdb.connect(str(file), read_only=True) as connection:
        statement = "SELECT paper_id, title || ' ' || abstract FROM papers ORDER BY paper_id"
        return connection.execute(statement).fetchall()


def search_tantivy(file: Path, queries: Sequence[str]) -> dict[str, tuple[Callable[[], Any], int]]:
    """tantivy's own default analysis and one field, a query at a time."""
    import tantivy

    builder = tantivy.SchemaBuilder().add_integer_field("paper_id", fast=True, stored=True)
    index = tantivy.Index(builder.add_text_field("text", index_option="freq").build())
    writer = index.writer(heap_size=256_000_000, num_threads=1)
    for paper_id, text in read_texts(file):
        document = tantivy.Document()
        document.add_integer("paper_id", paper_id)
        document.add_text("text", text)
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def search() -> None:
        for text in queries:
            query, _ = index.parse_query_lenient(text, ["text"])
            found = searcher.search(query, limit=K, count=False).hits
            searcher.fast_field_values("paper_id", [address for _, address in found])

    return {"tantivy, one by one": (search, len(queries))}


def search_faiss(file: Path, queries: Sequence[str]) -> dict[str, tuple[Callable[[], Any], int]]:
    """The same model by sentence-transformers, and the same vectors in faiss's flat index."""
    import faiss
    import numpy as np
    from sentence_transformers import SentenceTransformer

    from pinakes.database import connect
    from pinakes.indexers.encoder.presets import resolve_model
    from pinakes.matrices import to_matrix
    from pinakes.vectors.precisions import list_encoders

    with connect(file) as database, database.read() as session:
        (name,) = [one for one in list_encoders(session) if one.startswith("minilm_")]
        parts = session.stream(f"SELECT embedding FROM vectors_{name}", rows=16_384)
        vectors = np.concatenate([to_matrix(part["embedding"]) for part in parts])
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(np.ascontiguousarray(vectors))
    model = SentenceTransformer(str(resolve_model("minilm").folder), device="cpu")

    def search() -> None:
        asked = model.encode(list(queries), normalize_embeddings=True, show_progress_bar=False)
        index.search(asked, K)

    return {"faiss + sentence-transformers, together": (search, len(queries))}


PEERS: Final = {"bm25": search_tantivy, "minilm": search_faiss}


if __name__ == "__main__":
    main()
