"""Exact search against faiss's IndexFlat and against the rates at which this machine multiplies.

    python benchmarks/exact_search.py [--quick] [--rows N] [--queries N] [--dims N] [--data isotropic]
                                      [--json FILE] [--device cuda] [--folder DIR]

Both systems search the same vectors by inner product, each in a process of its own, whose largest resident
memory is told. Ours reads the vectors from their files while it searches; faiss has them in memory before the
clock starts, and so has a second row of ours, packed. Rankings are compared: ours with float64 scores of
every document for a few queries, to the bit; faiss's with ours but for what float32 rounds. Queries that are
asked one by one, of 200,000 documents in memory at most, have processes of their own too. Data are clustered
with a spectrum that decays, as sentences' vectors are, or isotropic. Leaves out: approximate indexes
(`approximate.py`).
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from _common import describe_machine, make_parser, report

from pinakes.indexers.exact import int8 as exact_int8
from pinakes.indexers.exact import scan as exact_scan
from pinakes.indexers.exact.kernel import has_kernel
from pinakes.indexers.exact.scores import check_vectors, score_pairs, share
from pinakes.indexers.exact.search import prepare_documents, search_exact, search_prepared

PEER = "faiss IndexFlatIP"
BLOCK = 1 << 14
CLUSTERS = 2000
RATE_ROWS = 1 << 14
RATE_TRIES = 5
ONE_BY_ONE = 30
WARMING = 512  # documents, so many that every kernel is called
MOST_HELD = 200_000
PEER_NOISE = 3e-5  # of |query||document|: what float32 sums of a thousand products may round


def main() -> None:
    parser = make_parser("Exact search against faiss's IndexFlat and the measured matrix rate.")
    parser.add_argument("--rows", type=int, help="documents (default: 50,000 with --quick, else 200,000)")
    parser.add_argument("--queries", type=int, help="queries (default: 1,000 with --quick, else 3,800)")
    parser.add_argument("--dims", type=int, default=768)
    parser.add_argument("--depth", type=int, default=500, help="how many documents a query gets")
    parser.add_argument("--data", choices=("clustered", "isotropic"), default="clustered")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--first-pass", default="auto", help="auto, int8, bf16, fp16, tf32, fp32 or float64")
    parser.add_argument("--rounds", type=int, default=1, help="turns of each system; the best counts")
    parser.add_argument("--folder", type=Path, help="keep the vectors here, and use those that are there")
    parser.add_argument(
        "--no-peer", action="store_true", help="leave faiss out (it needs all vectors in memory)"
    )
    parser.add_argument("--worker", choices=tuple(WORKERS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.rows = options.rows or (50_000 if options.quick else 200_000)
    options.queries = options.queries or (1000 if options.quick else 3800)
    torch.set_num_threads(options.threads)
    if options.worker:
        found = WORKERS[options.worker](options)
        print(json.dumps(found | {"peak_rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
        return
    with tempfile.TemporaryDirectory() as temporary:
        options.folder = options.folder or Path(temporary)
        options.folder.mkdir(parents=True, exist_ok=True)
        rows, figures = compare(options)
    title = (
        f"{options.queries} queries x {options.rows} x {options.dims}, top {options.depth} ({options.data})"
    )
    report(title, rows, figures, options.json)


def compare(options: argparse.Namespace) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The table's rows and the figures of one comparison."""
    make_files(options)
    rates = run_worker("rates", options)
    names = ["ours"] if options.no_peer else ["ours", "ours in memory", "peer"]
    found: dict[str, dict[str, Any]] = {}
    for _ in range(options.rounds):
        for name in names:
            again = run_worker(name, options)
            found[name] = min(found.get(name, again), again, key=lambda one: one["search_s"])
    checked = run_worker("check", options)
    del checked["peak_rss_mib"]
    work = 2e-9 * options.queries * options.rows * options.dims
    chosen = str(found["ours"]["first_pass"])
    rows = []
    for name in names:
        seconds = found[name]["search_s"]
        rows.append(
            {
                "system": PEER if name == "peer" else name.replace("ours", f"pinakes {chosen}"),
                "seconds": seconds,
                "cpu seconds": found[name]["cpu_s"],
                "queries/s": options.queries / seconds,
                "Gflop/s": work / seconds,
                "of fp32 rate": work / seconds / rates["gflops_fp32"],
                "of pass's rate": work / seconds / rates[f"gflops_{'fp32' if name == 'peer' else chosen}"],
                "peak RSS MiB": found[name]["peak_rss_mib"],
            }
        )
    figures = {f"{key}": value for key, value in rates.items() if key != "peak_rss_mib"} | checked
    if not options.no_peer:
        figures["ratio_faiss"] = found["peer"]["search_s"] / found["ours"]["search_s"]
        figures["in_memory_ratio_faiss"] = found["peer"]["search_s"] / found["ours in memory"]["search_s"]
        figures["cpu_seconds_ratio_faiss"] = found["peer"]["cpu_s"] / found["ours"]["cpu_s"]
        figures["memory_ratio_faiss"] = found["peer"]["peak_rss_mib"] / found["ours"]["peak_rss_mib"]
    for name in [name for name in names if name != "ours in memory"]:
        key = "one_query_cpu_ms" + ("_faiss" if name == "peer" else "")
        figures[key] = run_worker(f"{name} one by one", options)["cpu_ms"]
    figures |= {"first_pass": chosen, "threads": options.threads, **describe_machine()}
    return rows, figures


def run_worker(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """What a process that does one thing alone has printed."""
    passed = ("rows", "queries", "dims", "depth", "data", "device", "first_pass", "threads", "folder")
    command = [sys.executable, __file__, "--worker", name] + (["--no-peer"] if options.no_peer else [])
    for option in passed:
        command += [f"--{option.replace('_', '-')}", str(getattr(options, option))]
    print(f"{name} ...", file=sys.stderr)
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode:
        sys.exit(f"the process of {name} failed with {done.returncode}; see above")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(f"{name}: {result}", file=sys.stderr)
    return result


def make_files(options: argparse.Namespace, seed: int = 1) -> None:
    """Write the vectors of documents and queries, unless files of these sizes are there."""
    for name, rows in (("documents", options.rows), ("queries", options.queries)):
        path = describe_path(options, name)
        if path.exists():
            continue
        random = np.random.default_rng([seed, rows, name == "queries"])
        writing = path.with_suffix(".writing")
        file = np.lib.format.open_memmap(writing, "w+", np.float32, (rows, options.dims))
        for start, vectors in make_blocks(options.data, rows, options.dims, random, seed):
            file[start : start + len(vectors)] = vectors
        file.flush()
        writing.rename(path)


def describe_path(options: argparse.Namespace, name: str) -> Path:
    count = options.rows if name == "documents" else options.queries
    folder: Path = options.folder
    return folder / f"{options.data}-{name}-{count}x{options.dims}.npy"


def make_blocks(
    data: str, rows: int, dims: int, random: np.random.Generator, seed: int
) -> Iterator[tuple[int, np.ndarray]]:
    """The first row and the vectors of blocks; lengths are 1.

    Isotropic, or clusters and noise of a decaying spectrum, off centre.
    """
    shape = np.random.default_rng(seed)
    spectrum = (np.arange(1, dims + 1) ** -0.5).astype(np.float32)
    turned = np.linalg.qr(shape.standard_normal((dims, dims)))[0].astype(np.float32)
    centres = shape.standard_normal((CLUSTERS, dims), dtype=np.float32)
    for start in range(0, rows, BLOCK):
        count = min(BLOCK, rows - start)
        vectors = random.standard_normal((count, dims), dtype=np.float32)
        if data == "clustered":
            vectors = (vectors + centres[random.integers(0, CLUSTERS, count)]) * spectrum
            vectors = vectors @ turned + turned[0]
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        yield start, vectors


def open_both(options: argparse.Namespace) -> tuple[np.ndarray, np.ndarray]:
    """The documents, memory-mapped, and the queries."""
    documents = np.load(describe_path(options, "documents"), mmap_mode="r")
    return documents, np.load(describe_path(options, "queries"))


def search_ours(options: argparse.Namespace) -> dict[str, Any]:
    documents, queries = open_both(options)
    from pinakes.indexers.exact.passes import choose_pass

    # Kernels are compiled before the clock starts, which one search in a process pays for once.
    search_exact(queries, documents[:WARMING], 50, "inner_product", method=options.first_pass)
    started, worked = time.perf_counter(), time.process_time()
    rows, scores = search_exact(
        queries,
        documents,
        options.depth,
        "inner_product",
        device=options.device,
        method=options.first_pass,
    )
    elapsed_s, cpu_s = time.perf_counter() - started, time.process_time() - worked
    np.savez(options.folder / "ours.npz", rows=rows, scores=scores)
    chosen = choose_pass(options.first_pass, check_vectors(queries, "query"), options.device)
    return {"search_s": elapsed_s, "cpu_s": cpu_s, "first_pass": chosen}


def search_ours_in_memory(options: argparse.Namespace) -> dict[str, Any]:
    documents, queries = open_both(options)
    prepared = prepare_documents(np.array(documents), "inner_product", device=options.device)
    few = prepare_documents(documents[:WARMING], "inner_product", device=options.device)
    search_prepared(queries, few, 50, options.device)
    started, worked = time.perf_counter(), time.process_time()
    rows, scores = search_prepared(queries, prepared, options.depth, options.device)
    elapsed_s, cpu_s = time.perf_counter() - started, time.process_time() - worked
    ours = np.load(options.folder / "ours.npz")
    if not (np.array_equal(rows, ours["rows"]) and np.array_equal(scores, ours["scores"])):
        sys.exit("documents that are prepared are ranked otherwise")
    return {"search_s": elapsed_s, "cpu_s": cpu_s}


def search_ours_one_by_one(options: argparse.Namespace) -> dict[str, Any]:
    documents, queries = open_both(options)
    prepared = prepare_documents(documents[:MOST_HELD], "inner_product", device=options.device)
    return time_one_by_one(
        queries, lambda query: search_prepared(query, prepared, options.depth, options.device)
    )


def search_peer_one_by_one(options: argparse.Namespace) -> dict[str, Any]:
    import faiss

    faiss.omp_set_num_threads(options.threads)
    documents, queries = open_both(options)
    index = faiss.IndexFlatIP(options.dims)
    index.add(np.array(documents[:MOST_HELD]))
    return time_one_by_one(queries, lambda query: index.search(query, options.depth))


def time_one_by_one(queries: np.ndarray, search: Callable[[np.ndarray], object]) -> dict[str, Any]:
    """Milliseconds of the processor for a query that is asked alone, of documents that are in memory."""
    search(queries[:1])
    few = queries[:ONE_BY_ONE]
    worked = time.process_time()
    for query in few:
        search(query[None])
    return {"cpu_ms": (time.process_time() - worked) / len(few) * 1e3}


def search_peer(options: argparse.Namespace) -> dict[str, Any]:
    try:
        import faiss
    except ImportError:
        sys.exit("faiss is not installed; install the extra bench, or start with --no-peer")
    faiss.omp_set_num_threads(options.threads)
    documents, queries = open_both(options)
    index = faiss.IndexFlatIP(options.dims)
    for start in range(0, len(documents), BLOCK):
        index.add(np.array(documents[start : start + BLOCK]))
    del documents
    started, worked = time.perf_counter(), time.process_time()
    scores, rows = index.search(queries, options.depth)
    elapsed_s, cpu_s = time.perf_counter() - started, time.process_time() - worked
    np.savez(options.folder / "peer.npz", rows=rows, scores=scores)
    return {"search_s": elapsed_s, "cpu_s": cpu_s}


def check_rankings(options: argparse.Namespace, sampled: int = 6) -> dict[str, Any]:
    """Ours against a full sort of float64 scores, and faiss's against ours."""
    documents, queries = open_both(options)
    ours = np.load(options.folder / "ours.npz")
    chosen = np.linspace(0, len(queries) - 1, min(sampled, len(queries))).astype(np.int64)
    exact = np.empty((len(chosen), len(documents)), dtype=np.float32)
    for start in range(0, exact.shape[1], BLOCK):
        block = documents[start : start + BLOCK]
        pairs = np.indices((len(chosen), len(block))).reshape(2, -1).T
        scores = score_pairs(queries[chosen], block, pairs, "inner_product")
        exact[:, start : start + BLOCK] = scores.reshape(len(chosen), -1)
    order = np.argsort(-exact, axis=1, kind="stable")[:, : options.depth]
    same = bool((order == ours["rows"][chosen]).all())
    result: dict[str, Any] = {"equals_float64_truth": same, "queries_compared_with_truth": len(chosen)}
    if not options.no_peer:
        peer = np.load(options.folder / "peer.npz")
        result["equal_rows_faiss"] = float((peer["rows"] == ours["rows"]).mean())
        result["largest_score_difference_faiss"] = float(np.abs(peer["scores"] - ours["scores"]).max())
        result["agrees_with_faiss"] = result["largest_score_difference_faiss"] <= PEER_NOISE
    return result


def measure_rates(options: argparse.Namespace) -> dict[str, Any]:
    """Gflop/s of matrix products of the search's shape, by type, and the bandwidth of the device's memory."""
    kinds = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
    wanted = kinds if options.device != "cpu" else {"fp32": torch.float32}
    if options.device == "cpu" and options.first_pass in kinds:
        wanted |= {options.first_pass: kinds[options.first_pass]}
    rates = {f"gflops_{name}": measure_product(options, kind) for name, kind in wanted.items()}
    if options.device == "cpu" and has_kernel():
        rates["gflops_int8"] = measure_int8(options)
    if options.device == "cpu" and "gflops_bf16" not in rates:
        rates["gflops_bf16"] = measure_product(options, torch.bfloat16, 256)
    memory = torch.ones(1 << 26, device=options.device)
    copied = best_seconds(options, memory.clone)
    return rates | {"bandwidth_gb_s": 2 * memory.nbytes / copied / 1e9}


def measure_product(options: argparse.Namespace, kind: torch.dtype, rows: int = 1024) -> float:
    size = 4096 if options.device == "cpu" else RATE_ROWS
    left = torch.randn(rows if options.device == "cpu" else 4096, options.dims, device=options.device).to(
        kind
    )
    right = torch.randn(size, options.dims, device=options.device).to(kind)
    seconds = best_seconds(options, lambda: left @ right.T)
    return 2 * left.shape[0] * right.shape[0] * options.dims / seconds / 1e9


def measure_int8(options: argparse.Namespace) -> float:
    """The rate of the quantised pass's product alone, on all threads."""
    random = np.random.default_rng(1)
    count = exact_scan.choose_groups().queries
    queries = check_vectors(random.standard_normal((count, options.dims), dtype=np.float32), "query")
    block = check_vectors(random.standard_normal((4096, options.dims), dtype=np.float32), "document")
    frame = exact_int8.choose_frame(block, "inner_product")
    left, right = exact_int8.quantise_queries(queries, frame), exact_int8.quantise_block(block, frame)

    def multiply(first: int, stop: int) -> None:
        for _ in range(first, stop):
            exact_int8.multiply(left, right, slice(0, count), 0, 4096)

    seconds = best_seconds(options, lambda: share(multiply, options.threads, 1))
    return 2 * options.threads * count * 4096 * options.dims / seconds / 1e9


def best_seconds(options: argparse.Namespace, job: Any) -> float:
    def wait() -> None:
        if options.device != "cpu":
            torch.cuda.synchronize()

    best = float("inf")
    for _ in range(RATE_TRIES + 1):
        wait()
        started = time.perf_counter()
        job()
        wait()
        best = min(best, time.perf_counter() - started)
    return best


WORKERS = {
    "ours": search_ours,
    "ours in memory": search_ours_in_memory,
    "peer": search_peer,
    "ours one by one": search_ours_one_by_one,
    "peer one by one": search_peer_one_by_one,
    "check": check_rankings,
    "rates": measure_rates,
}

if __name__ == "__main__":
    main()
