"""Sparse BM25 against bm25s and tantivy: long queries over a Zipfian collection, the whole batch timed.

    python benchmarks/bm25.py [--quick] [--json FILE] [--threads N] [--papers N] [--queries N]

Every system indexes and searches the same tokens, each in a process of its own, with all threads; bm25s by
its numba backend, tantivy with a thread a query. Where `--peer-queries` is below `--queries`, the peers' time
is scaled up. Pools of 1,000 documents, one of each query's own, are scored too, of which bm25s scores all
documents, in threads. The best lists are checked against a computation of the formula in float64 over the raw
tokens. Leaves out: the analysis of text (measured apart, on made-up words), retrieval quality.
"""

import argparse
import json
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from _common import describe_machine, list_missing, make_parser, report, run_worker

K1, B = 1.2, 0.75
MEAN_LENGTH = 150
QUERY_LENGTHS = (200, 260)
TABLE_SIZE = 1 << 24
CHECKED_QUERIES = 4
OWN_POOL = 1_000
"""documents of a pool of a query's own"""
DOCUMENTS_AT_ONCE = 20_000


def main() -> None:
    options = read_options()
    if options.worker:
        result = WORKERS[options.worker](options, Path(options.folder))
        result["peak_MiB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps(result))
        return
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        make_collection(options, Path(name))
        names = ["build", "analyse", "pinakes", "grid", *list_peers(options)]
        found = {worker: run_worker(__file__, worker, name) for worker in names}
        error, misses = check(options, Path(name))
    rows, figures = summarise(options, found)
    figures |= {"max_relative_error": error, "wrong_in_top": misses, **describe_machine()}
    title = f"BM25, {options.queries} queries, {options.papers} papers, top {options.k}"
    report(title, rows, figures, options.json)


def read_options() -> argparse.Namespace:
    parser = make_parser("Sparse BM25 against bm25s and tantivy.")
    parser.add_argument("--papers", type=int, help="documents (default: 200,000; 20,000 with --quick)")
    parser.add_argument("--queries", type=int, help="queries (default: 3,800; 400 with --quick)")
    parser.add_argument("--peer-queries", type=int, help="queries that the peers answer (default: all)")
    parser.add_argument("--peers", default="bm25s,tantivy", help="which peers, with commas; may be empty")
    parser.add_argument("--pool-queries", type=int, default=400, help="queries with pools of their own")
    parser.add_argument("--k", type=int, default=500, help="length of a ranking")
    parser.add_argument("--vocabulary", type=int, default=500_000, help="terms")
    parser.add_argument("--scratch", help="where the files of the run lie")
    parser.add_argument("--worker", choices=WORKERS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.papers = options.papers or (20_000 if options.quick else 200_000)
    options.queries = options.queries or (400 if options.quick else 3_800)
    options.peer_queries = min(options.peer_queries or options.queries, options.queries)
    options.k = min(options.k, options.papers)
    return options


def list_peers(options: argparse.Namespace) -> list[str]:
    """Those of the peers that are installed; the others are named."""
    wanted = [name for name in options.peers.split(",") if name]
    missing = list_missing(wanted)
    return [name for name in wanted if name not in missing]


def summarise(
    options: argparse.Namespace, found: dict[str, dict[str, Any]]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The table's rows and the figures."""
    found["pinakes"]["index_s"] = found["build"]["index_s"]
    batch_s = {
        name: found[name]["search_s"] * options.queries / found[name]["queries"]
        for name in ("pinakes", "bm25s", "tantivy")
        if name in found
    }
    rows = [
        {
            "system": name,
            "queries": found[name]["queries"],
            "batch s": seconds,
            "ms/query": seconds / options.queries * 1000,
            "times pinakes": seconds / batch_s["pinakes"],
            "processor ms/query": found[name]["processor_s"] / found[name]["queries"] * 1000,
            "index s": found[name]["index_s"],
            "peak MiB": found[name]["peak_MiB"],
        }
        for name, seconds in batch_s.items()
    ]
    peers = {f"ratio_{name}": batch_s[name] / batch_s["pinakes"] for name in batch_s if name != "pinakes"}
    own = {name: one["own_pools_s"] / one["pools"] for name, one in found.items() if "pools" in one}
    figures = {
        **peers,
        **{f"ms_per_own_pool_{name}": 1000 * seconds for name, seconds in own.items()},
        "build_peak_MiB": found["build"]["peak_MiB"],
        "index_MiB": found["build"]["index_MiB"],
        "open_s": found["pinakes"]["open_s"],
        "compile_s": found["pinakes"]["compile_s"],
        "documents_analysed_per_s": found["analyse"]["documents_per_s"],
        "s_per_pair_of_k1_and_b": found["grid"]["s_per_pair"],
        "threads": options.threads,
    }
    return rows, figures


class Stopwatch:
    """Seconds by the clock, and of the processor: the second says how much others disturbed the first."""

    def __enter__(self) -> "Stopwatch":
        self._started = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_error: object) -> None:
        clock_s, processor_s = self._started
        self.elapsed = {
            "search_s": time.perf_counter() - clock_s,
            "processor_s": time.process_time() - processor_s,
        }


def make_collection(options: argparse.Namespace, folder: Path) -> None:
    """tokens.npy, lengths.npy, query_tokens.npy, query_lengths.npy; term 0 is the most frequent."""
    generator = np.random.default_rng(1)
    shares = np.cumsum(1 / np.arange(1, options.vocabulary + 1))
    table = np.searchsorted(shares / shares[-1], (np.arange(TABLE_SIZE) + 0.5) / TABLE_SIZE).astype(np.int32)
    lengths = generator.integers(MEAN_LENGTH - 50, MEAN_LENGTH + 51, options.papers)
    tokens = np.lib.format.open_memmap(folder / "tokens.npy", "w+", np.int32, (int(lengths.sum()),))
    for start in range(0, len(tokens), TABLE_SIZE):
        part = tokens[start : start + TABLE_SIZE]
        part[:] = table[generator.integers(0, TABLE_SIZE, len(part), dtype=np.int32)]
    tokens.flush()
    np.save(folder / "lengths.npy", lengths)
    query_lengths = generator.integers(*QUERY_LENGTHS, options.queries)
    np.save(folder / "query_lengths.npy", query_lengths)
    drawn = generator.integers(0, TABLE_SIZE, int(query_lengths.sum()))
    np.save(folder / "query_tokens.npy", table[drawn])


def read_queries(folder: Path, count: int) -> list[np.ndarray]:
    ends = np.cumsum(np.load(folder / "query_lengths.npy"))
    return np.split(np.load(folder / "query_tokens.npy"), ends[:-1])[:count]


def read_parts(
    folder: Path, at_once: int = DOCUMENTS_AT_ONCE
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """The first document, the lengths and the tokens of some documents, one part after the other."""
    lengths, tokens = np.load(folder / "lengths.npy"), np.load(folder / "tokens.npy", mmap_mode="r")
    ends = np.concatenate(([0], np.cumsum(lengths)))
    for start in range(0, len(lengths), at_once):
        stop = min(start + at_once, len(lengths))
        yield start, lengths[start:stop], np.asarray(tokens[ends[start] : ends[stop]])


def build(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    from pinakes.indexers.sparse_bm25.analyse import GrowingVocabulary, TermIds
    from pinakes.indexers.sparse_bm25.build import BLOCK_ROWS, write_sparse_bm25

    term_ids = np.arange(options.vocabulary, dtype=np.int32)
    blocks = (
        TermIds(np.arange(start, start + len(lengths)), lengths, tokens, term_ids)
        for start, lengths, tokens in read_parts(folder, BLOCK_ROWS)
    )
    started = time.perf_counter()
    vocabulary = GrowingVocabulary((f"t{number}", number) for number in range(options.vocabulary))
    write_sparse_bm25(folder / "index", blocks, vocabulary, threads=options.threads)
    seconds = time.perf_counter() - started
    size = sum(file.stat().st_size for file in (folder / "index").iterdir())
    return {"index_s": seconds, "index_MiB": size / 2**20}


def analyse(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """How fast texts become an index: analysis, postings and files."""
    from pinakes.indexers.sparse_bm25.analyse import list_blocks
    from pinakes.indexers.sparse_bm25.build import build_sparse_bm25

    _, lengths, tokens = next(read_parts(folder, 5_000))
    words = np.array([f"Word{number:x}" for number in range(options.vocabulary)])
    texts = [" ".join(words[part]) for part in np.split(tokens, np.cumsum(lengths)[:-1])]
    build_sparse_bm25(folder / "warm", list_blocks([(1, "compiled")]))
    started = time.perf_counter()
    build_sparse_bm25(folder / "texts", list_blocks(enumerate(texts)), threads=options.threads)
    return {"documents_per_s": len(texts) / (time.perf_counter() - started)}


def search_pinakes(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    from pinakes.indexers.sparse_bm25.index import SparseBm25Index

    queries = read_queries(folder, options.queries)
    started = time.perf_counter()
    index = SparseBm25Index.open(folder / "index")
    open_s = time.perf_counter() - started
    started = time.perf_counter()
    index.search_terms(queries[:1], options.k, K1, B)
    compile_s = time.perf_counter() - started
    with Stopwatch() as watch:
        found = index.search_terms(queries, options.k, K1, B, threads=options.threads)
    save(folder, "pinakes", [list(one.paper_ids) for one in found], [list(one.scores) for one in found])
    texts = [" ".join(f"t{term}" for term in query) for query in queries[: options.pool_queries]]
    (scores,) = index.score_pools(texts[:1], [found[0].paper_ids], K1, B)
    assert np.array_equal(scores, found[0].scores)
    pools = draw_pools(options, len(texts))
    with Stopwatch() as own:
        index.score_pools(texts, pools, K1, B, threads=options.threads)
    result = {**watch.elapsed, "queries": len(queries), "open_s": open_s, "compile_s": compile_s}
    return result | {"own_pools_s": own.elapsed["search_s"], "pools": len(pools)}


def draw_pools(options: argparse.Namespace, count: int) -> list[np.ndarray]:
    """Documents of which the first queries ask alone."""
    generator = np.random.default_rng(3)
    size = min(OWN_POOL, options.papers)
    return [generator.choice(options.papers, size, replace=False) for _ in range(count)]


def search_grid(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """What a further pair of k1 and b costs with the index open: 100 queries, four pairs."""
    from pinakes.indexers.sparse_bm25.index import SparseBm25Index

    index = SparseBm25Index.open(folder / "index")
    queries = read_queries(folder, 100)
    index.search_terms(queries[:1], options.k, K1, B)
    pairs = [(k1, b) for k1 in (0.9, 2.0) for b in (0.4, 0.9)]
    started = time.perf_counter()
    for k1, b in pairs:
        index.search_terms(queries, options.k, k1, b, threads=options.threads)
    return {"s_per_pair": (time.perf_counter() - started) / len(pairs)}


def search_bm25s(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    import bm25s

    documents = []
    for _, lengths, tokens in read_parts(folder):
        documents += np.split(tokens, np.cumsum(lengths)[:-1])
    terms = {f"t{number}": number for number in range(options.vocabulary)}
    peer = bm25s.BM25(method="lucene", k1=K1, b=B, backend="numba")
    started = time.perf_counter()
    peer.index((documents, terms), show_progress=False)
    index_s = time.perf_counter() - started
    queries = [query.tolist() for query in read_queries(folder, options.peer_queries)]

    def ask(part: list[list[int]]) -> Any:
        return peer.retrieve(part, k=options.k, n_threads=options.threads, show_progress=False)

    ask(queries[:2])
    with Stopwatch() as watch:
        found = ask(queries)
    save(folder, "bm25s", found.documents.tolist(), found.scores.tolist())
    some = queries[: options.pool_queries]
    pools = draw_pools(options, len(some))
    with Stopwatch() as own, ThreadPoolExecutor(options.threads) as workers:
        list(workers.map(lambda query, pool: peer.get_scores_from_ids(query)[pool], some, pools))
    result = {**watch.elapsed, "queries": len(queries), "index_s": index_s}
    return result | {"own_pools_s": own.elapsed["search_s"], "pools": len(pools)}


def search_tantivy(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    import tantivy

    fields = tantivy.SchemaBuilder().add_integer_field("row", fast=True)
    schema = fields.add_text_field("text", tokenizer_name="words", index_option="freq").build()
    (folder / "tantivy").mkdir()
    index = tantivy.Index(schema, path=str(folder / "tantivy"))
    index.register_tokenizer("words", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
    words = np.array([f"t{number}" for number in range(options.vocabulary)], dtype=object)
    started = time.perf_counter()
    writer = index.writer(1_000_000_000, options.threads)
    for start, lengths, tokens in read_parts(folder):
        for row, part in enumerate(np.split(tokens, np.cumsum(lengths)[:-1]), start):
            document = tantivy.Document()
            document.add_integer("row", row)
            document.add_text("text", " ".join(words[part]))
            writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    index_s = time.perf_counter() - started
    searcher = index.searcher()

    def ask(query: np.ndarray) -> Any:
        clauses = []
        for term, count in Counter(query.tolist()).items():
            clause = tantivy.Query.term_query(schema, "text", f"t{term}", index_option="freq")
            clauses.append((tantivy.Occur.Should, tantivy.Query.boost_query(clause, count)))
        return searcher.search(tantivy.Query.boolean_query(clauses), limit=options.k, count=False).hits

    queries = read_queries(folder, options.peer_queries)
    ask(queries[0])
    with Stopwatch() as watch, ThreadPoolExecutor(options.threads) as pool:
        list(pool.map(ask, queries))
    return {**watch.elapsed, "queries": len(queries), "index_s": index_s}


def save(folder: Path, name: str, rows: list[Any], scores: list[Any]) -> None:
    kept = slice(0, CHECKED_QUERIES)
    np.savez(folder / f"{name}.npz", rows=np.array(rows[kept]), scores=np.array(scores[kept]))


def check(options: argparse.Namespace, folder: Path) -> tuple[float, int]:
    """The largest relative error of a score, and how many documents are wrongly in a top list."""
    found = np.load(folder / "pinakes.npz")
    error, misses = 0.0, 0
    for number, truth in enumerate(score_in_float64(options, folder)):
        rows, scores = found["rows"][number], found["scores"][number].astype(np.float64)
        error = max(error, float(np.abs(scores / truth[rows] - 1).max()))
        least = np.partition(truth, len(truth) - len(rows))[len(truth) - len(rows)]
        misses += int((truth[rows] < least * (1 - 1e-6)).sum())
    return error, misses


def score_in_float64(options: argparse.Namespace, folder: Path) -> list[np.ndarray]:
    """The formula over the raw tokens, for the checked queries: (papers,) each."""
    lengths = np.load(folder / "lengths.npy")
    queries = [np.unique(query, return_counts=True) for query in read_queries(folder, CHECKED_QUERIES)]
    frequencies = np.zeros(options.vocabulary)
    wanted = np.zeros(options.vocabulary, dtype=bool)
    for terms, _ in queries:
        wanted[terms] = True
    kept: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for start, part_lengths, tokens in read_parts(folder):
        owners = np.repeat(np.arange(start, start + len(part_lengths)), part_lengths)
        mine = wanted[tokens]
        keys, counts = np.unique(owners[mine] * options.vocabulary + tokens[mine], return_counts=True)
        documents, terms = np.divmod(keys, options.vocabulary)
        frequencies += np.bincount(terms, minlength=options.vocabulary)
        kept.append((documents.astype(np.int32), terms.astype(np.int32), counts.astype(np.int32)))
    documents, terms, counts = (np.concatenate(column) for column in zip(*kept, strict=True))
    idf = np.log(1 + (len(lengths) - frequencies + 0.5) / (frequencies + 0.5))
    norms = K1 * (1 - B + B * lengths / lengths.mean())
    parts = idf[terms] * counts * (K1 + 1) / (counts + norms[documents])
    scores = []
    for query_terms, factors in queries:
        factor = np.zeros(options.vocabulary)
        factor[query_terms] = factors
        scores.append(np.bincount(documents, factor[terms] * parts, minlength=len(lengths)))
    return scores


WORKERS: dict[str, Callable[[argparse.Namespace, Path], dict[str, Any]]] = {
    "build": build,
    "analyse": analyse,
    "pinakes": search_pinakes,
    "grid": search_grid,
    "bm25s": search_bm25s,
    "tantivy": search_tantivy,
}


if __name__ == "__main__":
    main()
