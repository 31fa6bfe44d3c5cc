"""Each query ranked in a pool of its own by exact scores, as CSFCube and MDCR ask it, beside numpy.

    python benchmarks/own_pools.py [--quick] [--documents N] [--dimensions N] [--threads N] [--rounds N]
        [--json FILE]

`ranked` is Pinakes' (`indexers.exact.search.score_pools`): cosines exact to the float32, ties in a fixed
order. The peer takes a pool's vectors out of the matrix, multiplies them in float32, and sorts. The limit is
each pool's vectors copied to one place, and no more. Pools are drawn at random. Medians of rounds in turns;
scores must be the peer's up to its rounding.
"""

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from _common import describe_machine, make_parser, measure_in_turns, report
from _vectors import make_matrix
from threadpoolctl import threadpool_limits

from pinakes.indexers.exact.search import score_pools

PAIRS = 1_000_000
"""(query, document) of a row of the table, at most"""
MOST_QUERIES = 1_000


def main() -> None:
    parser = make_parser("Queries ranked in pools of their own.")
    parser.add_argument("--documents", type=int, help="how many (default: 100,000; 10,000 with --quick)")
    parser.add_argument("--dimensions", type=int, default=768)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    options.documents = options.documents or (10_000 if options.quick else 100_000)
    torch.set_num_threads(options.threads)
    documents = make_matrix(options.documents, options.dimensions, 1)
    queries = make_matrix(MOST_QUERIES, options.dimensions, 2)
    with threadpool_limits(options.threads, user_api="blas"):
        rows = [
            row
            for size in (100, 1_000, 10_000)
            if size <= options.documents
            for row in measure(queries, documents, size, options)
        ]
    title = f"Queries ranked in own pools among {options.documents} vectors of {options.dimensions} numbers"
    report(title, rows, {"threads": options.threads, **describe_machine()}, options.json)


def measure(
    queries: np.ndarray, documents: np.ndarray, size: int, options: argparse.Namespace
) -> list[dict[str, Any]]:
    """A row for Pinakes, the peer and the limit, with pools of that size."""
    drawn = np.random.default_rng(size)
    count = min(len(queries), PAIRS // size)
    pools = [drawn.choice(len(documents), size, replace=False) for _ in range(count)]
    some = queries[:count]
    require_alike(list(score_pools(some, documents, pools)), rank_plainly(some, documents, pools))
    jobs = {
        "ranked": lambda: list(score_pools(some, documents, pools)),
        "numpy": lambda: rank_plainly(some, documents, pools),
        "copied": lambda: copy_vectors(documents, pools),
    }
    seconds = measure_in_turns(jobs, options.rounds)
    return [
        {"pool": size, "queries": count, "what": what, "s": s, "ns/pair": 1e9 * s / (count * size)}
        for what, s in seconds.items()
    ]


def rank_plainly(
    queries: np.ndarray, documents: np.ndarray, pools: Sequence[np.ndarray]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """As a script does it: rows in rank order and their cosines, in float32."""
    lengths, own = np.linalg.norm(documents, axis=1), np.linalg.norm(queries, axis=1)
    found = []
    for query, length, pool in zip(queries, own, pools, strict=True):
        scores = documents[pool] @ query / (lengths[pool] * length)
        order = np.argsort(-scores, kind="stable")
        found.append((pool[order], scores[order]))
    return found


def copy_vectors(documents: np.ndarray, pools: Sequence[np.ndarray]) -> None:
    room = np.empty((len(pools[0]), documents.shape[1]), dtype=np.float32)
    for pool in pools:
        np.take(documents, pool, axis=0, out=room, mode="clip")  # other modes copy twice


def require_alike(
    found: Sequence[tuple[np.ndarray, np.ndarray]], expected: Sequence[tuple[np.ndarray, np.ndarray]]
) -> None:
    for (rows, scores), (others, rounded) in zip(found, expected, strict=True):
        assert sorted(rows) == sorted(others)
        np.testing.assert_allclose(scores, rounded, rtol=0, atol=1e-5)


if __name__ == "__main__":
    main()
