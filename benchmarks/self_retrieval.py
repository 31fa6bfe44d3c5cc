"""Alternative-self retrieval's arithmetic against the rate of float32 products and against scikit-learn.

    python benchmarks/self_retrieval.py [--quick] [--papers N] [--dims N ...] [--rounds N] [--json FILE]

All pairs of papers are measured, each paper's altered text is ranked among all originals, and the nearest of
sampled neighbours and originals are found among all of both; scikit-learn's NearestNeighbors(metric="cosine",
algorithm="brute") is given the same queries and k. The jobs take turns in one process, beside float32
products as large as the machine likes them; each job's best turn counts, and so does its processor time,
which other processes disturb less. The memory of the pairs is that of a process of their own. Weighted terms
are made up after Zipf. Leaves out: encoding, and the database.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import torch
from _common import describe_machine, make_parser, report
from exact_search import make_blocks

from pinakes.indexers.self_retrieval.overlaps import NEEDED, share_nearest
from pinakes.indexers.self_retrieval.space import (
    DenseTexts,
    SparseRows,
    SparseTexts,
    find_overlaps,
    measure_pairs,
    rank_own,
)

PAPERS: Final = 35_482  # of the largest corpus of the paper
NOISE: Final = 0.3  # how far a made-up neighbour lies from its original, whose length is 1
RATE_ROWS: Final = 4096
RATE_COLUMNS: Final = 8192
VOCABULARY: Final = 60_000
WORDS: Final = 170  # of a title and abstract
CHECKED: Final = 100  # queries whose ranks are computed again


def main() -> None:
    parser = make_parser("Ranks, overlaps and pairs against the matrix rate and scikit-learn.")
    parser.add_argument("--papers", type=int, help=f"papers (default: 8,000 with --quick, else {PAPERS:,})")
    parser.add_argument(
        "--dims", type=int, nargs="+", help="widths (default: 384 with --quick, else 384 768)"
    )
    parser.add_argument("--queries", type=int, default=2000, help="sampled papers of the overlaps")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each job; the best counts")
    parser.add_argument("--no-sparse", action="store_true", help="leave weighted terms out")
    parser.add_argument("--pairs-alone", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.papers = options.papers or (8000 if options.quick else PAPERS)
    options.dims = options.dims or ([384] if options.quick else [384, 768])
    options.queries = min(options.queries, options.papers)
    torch.set_num_threads(options.threads)
    if options.pairs_alone:
        measure_pairs(DenseTexts(np.arange(options.papers), make_vectors(options.papers, options.dims[0])))
        print(json.dumps(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))
        return
    rows: list[dict[str, Any]] = []
    # First, since a process begins with the largest memory of the one that starts it.
    figures = {f"pairs_peak_rss_mib_{width}": measure_memory(options, width) for width in options.dims}
    compile_kernels()
    for width in options.dims:
        compare(options, width, rows, figures)
    if not options.no_sparse:
        measure_terms(options, rows)
    figures |= {"threads": options.threads, **describe_machine()}
    report(f"{options.papers} papers, {options.queries} sampled", rows, figures, options.json)


def compare(
    options: argparse.Namespace, width: int, rows: list[dict[str, Any]], figures: dict[str, Any]
) -> None:
    """Add the rows and figures of one width."""
    everyone = np.arange(options.papers)
    sample = np.sort(np.random.default_rng(1).permutation(everyone)[: options.queries])
    originals, neighbours = (DenseTexts(everyone, one) for one in make_neighbours(options.papers, width))
    jobs = {
        "products": make_products(width),
        "pairs": lambda: measure_pairs(originals),
        "ranks": lambda: rank_own(neighbours, originals, everyone),
        "overlaps": lambda: find_overlaps(neighbours, originals, sample, everyone),
        "scikit-learn": make_peer(neighbours, originals, sample),
    }
    best = take_turns(jobs, options.rounds)
    work = count_products(options)
    for name, (seconds, cpu_seconds) in best.items():
        rows.append(
            {
                "job": f"{name}, d = {width}",
                "seconds": seconds,
                "cpu seconds": cpu_seconds,
                "1e9 multiply-adds/s": 1e-9 * work[name] * width / seconds,
            }
        )
    for place, kind in enumerate(("seconds", "cpu_seconds")):
        rates = {name: work[name] / best[name][place] for name in jobs}
        for name in ("pairs", "ranks"):
            figures[f"share_of_matrix_rate_{name}_{width}_by_{kind}"] = rates[name] / rates["products"]
        ratio = best["scikit-learn"][place] / best["overlaps"][place]
        figures[f"ratio_sklearn_{width}_by_{kind}"] = ratio
    figures[f"ranks_as_in_float64_{width}"] = check_ranks(neighbours, originals)
    figures[f"overlaps_as_sklearn_{width}"] = check_overlaps(neighbours, originals, sample)


def count_products(options: argparse.Namespace) -> dict[str, int]:
    """Of how many pairs of vectors each job has to know the product."""
    count = options.papers
    nearest = 4 * options.queries * count
    return {
        "products": RATE_ROWS * RATE_COLUMNS,
        "pairs": count * (count - 1) // 2,
        "ranks": count * count,
        "overlaps": nearest,
        "scikit-learn": nearest,
    }


def take_turns(jobs: dict[str, Callable[[], Any]], rounds: int) -> dict[str, tuple[float, float]]:
    """The least seconds, and the least processor seconds, of each job."""
    turns: dict[str, list[tuple[float, float]]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, job in jobs.items():
            started, worked = time.perf_counter(), time.process_time()
            job()
            turns[name].append((time.perf_counter() - started, time.process_time() - worked))
            print(f"{name}: {turns[name][-1][0]:.2f} s", file=sys.stderr)
    return {
        name: (min(one[0] for one in taken), min(one[1] for one in taken)) for name, taken in turns.items()
    }


def make_products(width: int) -> Callable[[], Any]:
    """A large float32 product, by numpy or by torch, whichever is faster: the machine's rate."""
    random = np.random.default_rng(1)
    left = random.standard_normal((RATE_ROWS, width), dtype=np.float32)
    right = random.standard_normal((RATE_COLUMNS, width), dtype=np.float32)
    product = np.empty((RATE_ROWS, RATE_COLUMNS), dtype=np.float32)
    tensors = [torch.from_numpy(array) for array in (left, right, product)]

    def by_numpy() -> Any:
        return np.matmul(left, right.T, out=product)

    def by_torch() -> Any:
        return torch.mm(tensors[0], tensors[1].T, out=tensors[2])

    best = take_turns({"numpy's products": by_numpy, "torch's products": by_torch}, 3)
    return by_numpy if best["numpy's products"] < best["torch's products"] else by_torch


def make_peer(neighbours: DenseTexts, originals: DenseTexts, sample: np.ndarray) -> Callable[[], Any]:
    """scikit-learn with the queries, candidates and k of the overlaps; it is given the candidates before."""
    from sklearn.neighbors import NearestNeighbors

    candidates = np.concatenate([originals.vectors, neighbours.vectors])
    queries = np.concatenate([neighbours.vectors[sample], originals.vectors[sample]])
    model = NearestNeighbors(n_neighbors=NEEDED, metric="cosine", algorithm="brute").fit(candidates)
    return lambda: model.kneighbors(queries)


def check_ranks(neighbours: DenseTexts, originals: DenseTexts) -> float:
    """The share of some queries whose rank is that of all float64 cosines, rounded as scores are."""
    chosen = np.arange(0, len(originals.rows), max(1, len(originals.rows) // CHECKED))
    asked = DenseTexts(originals.rows[chosen], neighbours.vectors[chosen])
    found = rank_own(asked, originals, originals.rows).rank
    left, right = asked.vectors.astype(np.float64), originals.vectors.astype(np.float64)
    lengths = np.linalg.norm(left, axis=1)[:, None] * np.linalg.norm(right, axis=1)
    scores = (left @ right.T / lengths).astype(np.float32)
    own = scores[np.arange(len(chosen)), chosen][:, None]
    first = (scores == own) & (originals.rows < chosen[:, None])
    return float((found == 1 + (scores > own).sum(axis=1) + first.sum(axis=1)).mean())


def check_overlaps(neighbours: DenseTexts, originals: DenseTexts, sample: np.ndarray) -> float:
    """The share of sampled papers whose shared counts are those of scikit-learn's nearest.

    Its cosines are float32 sums, so that candidates that are nearly alike may stand in another order.
    """
    peer = make_peer(neighbours, originals, sample)()[1]
    expected = share_nearest(peer, sample + len(originals.rows), sample)
    found = find_overlaps(neighbours, originals, sample, originals.rows).shared
    return float((found == expected).all(axis=(1, 2)).mean())


def measure_memory(options: argparse.Namespace, width: int) -> float:
    """The largest resident memory in MiB of a process that measures the pairs."""
    command = [
        sys.executable,
        __file__,
        "--pairs-alone",
        "--papers",
        str(options.papers),
        "--dims",
        str(width),
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    return float(done.stdout)


def make_vectors(count: int, width: int) -> np.ndarray:
    """Clustered vectors, as sentences' are."""
    return np.concatenate(
        [part for _, part in make_blocks("clustered", count, width, np.random.default_rng(1), 1)]
    )


def make_neighbours(count: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Originals, and a neighbour of each that lies `NOISE` away."""
    vectors = make_vectors(count, width)
    noise = np.random.default_rng(2).standard_normal(vectors.shape, dtype=np.float32)
    noise *= NOISE / np.linalg.norm(noise, axis=1, keepdims=True)
    return vectors, vectors + noise


def measure_terms(options: argparse.Namespace, rows: list[dict[str, Any]]) -> None:
    """Add the seconds of weighted terms, once each: BM25's weights of words drawn after Zipf."""
    count, everyone = options.papers, np.arange(options.papers)
    texts = make_terms(count, WORDS)
    jobs: dict[str, Callable[[], Any]] = {
        "pairs": lambda: measure_pairs(texts),
        "ranks": lambda: rank_own(texts, texts, everyone),
        "overlaps": lambda: find_overlaps(texts, texts, everyone[: options.queries], everyone),
    }
    for name, (seconds, cpu_seconds) in take_turns(jobs, 1).items():
        measured = {"job": f"{name}, weighted terms", "seconds": seconds, "cpu seconds": cpu_seconds}
        rows.append(measured | {"1e9 multiply-adds/s": ""})


def make_terms(count: int, words: int) -> SparseTexts:
    """Texts of `words` words: what is asked counts terms, what is found has BM25's weights."""
    random = np.random.default_rng(1)
    shares = 1 / (np.arange(VOCABULARY) + 2.7)
    drawn = np.searchsorted(np.cumsum(shares / shares.sum()), random.random((count, words)))
    keys, counts = np.unique(drawn + VOCABULARY * np.arange(count)[:, None], return_counts=True)
    documents, terms = np.divmod(keys, VOCABULARY)
    starts = np.searchsorted(documents, np.arange(count + 1))
    frequencies = np.bincount(terms, minlength=VOCABULARY + 1)
    weights = (
        np.log1p((count - frequencies + 0.5) / (frequencies + 0.5))[terms] * counts * 2.2 / (counts + 1.2)
    )
    numbers = terms.astype(np.int32)
    queries = SparseRows(starts, numbers, counts.astype(np.float64))
    return SparseTexts(np.arange(count), queries, SparseRows(starts, numbers, weights))


def compile_kernels() -> None:
    """Ask everything once of a few texts, so that no job is measured with its kernels' compilation."""
    few = np.arange(64)
    texts = (DenseTexts(few, make_vectors(64, 16)), make_terms(64, 20))
    for one in texts:
        measure_pairs(one)
        rank_own(one, one, few)
        find_overlaps(one, one, few, few)


if __name__ == "__main__":
    main()
