"""Two runs on a local Ray cluster of two nodes that are larger than what tests do: pools, and many vectors.

    python benchmarks/cluster_scale.py [--quick] [--only pools|vectors] [--folder F] [--papers N] [--rows N] …

`pools`: a synthetic release of S2ORC is loaded, indexed for sparse BM25 and a small random encoder, pools of
the large-scale evaluation are drawn, and both systems rank them, each by the command that a user types,
without Ray and on the cluster. That the hits are the same is checked. `vectors`: vectors of 32 numbers are
searched in fragments that together are larger than the memory that a worker asks for; the peak of each
worker's resident memory is held against that, and the hits against those without Ray. With `--folder`, what
is there is not done again, and `--fresh` does the cluster's part again. Seconds are with the start of
workers; driver and nodes share this machine's cores.
"""

import argparse
import json
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from _commands import Steps
from _common import describe_machine, make_parser, report
from _vectors import make_blocks
from cluster import start_cluster
from mdcr import CORPUS, LARGE, draw, prepare

from pinakes.cluster import needs
from pinakes.cluster.exact import share_vectors
from pinakes.cluster.fragments import FRAGMENT_ROWS
from pinakes.database import connect
from pinakes.indexers.exact.passes import Block
from pinakes.indexers.exact.search import search_exact
from pinakes.plan.random_encoder import write_random_encoder

DIMENSIONS = 32
DEPTH = 100
ENCODER = "small_random"
WORDS = [f"w{number}" for number in range(2_000)]
POLL_S = 0.1
PEAK = "a worker's MiB"
NO_WORKER: dict[str, Any] = {PEAK: None}
DIGEST = "SELECT bit_xor(hash(query_id, paper_id, rank, score)) AS digest, count(*) AS hits FROM hits"


def main() -> None:
    parser = make_parser("Pools and many vectors on a local cluster of two nodes.")
    parser.add_argument(
        "--papers", type=int, help="papers of pools (default: 6,000 with --quick, else 2,200,000)"
    )
    parser.add_argument("--rows", type=int, help="vectors (default: 1,000,000 with --quick, else 20,000,000)")
    parser.add_argument("--queries", type=int, default=1_000, help="queries of the vectors")
    parser.add_argument("--only", choices=("pools", "vectors"))
    parser.add_argument("--folder", type=Path, help="where to work, and what is there is used")
    parser.add_argument("--fresh", action="store_true", help="do the cluster's part again")
    options = parser.parse_args()
    options.papers = options.papers or (6_000 if options.quick else 2_200_000)
    options.rows = options.rows or (1_000_000 if options.quick else 20_000_000)
    options.year, options.encoder = 2024, "none"
    rows: list[dict[str, Any]] = []
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="pinakes-scale-") as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name, measure in (("pools", measure_pools), ("vectors", measure_vectors)):
            if options.only in (None, name):
                measured, told = measure(options, folder / name)
                rows += measured
                figures |= told
    report("Ray on two nodes", rows, {**figures, "machine": describe_machine()}, options.json)


class Done:
    """What is done in a folder, by name, kept when each is."""

    def __init__(self, folder: Path, fresh: bool) -> None:
        folder.mkdir(exist_ok=True)
        self._path = folder / "done.json"
        self._held: dict[str, Any] = json.loads(self._path.read_text()) if self._path.exists() else {}
        if fresh:
            self._held = {name: value for name, value in self._held.items() if "on two nodes" not in name}

    def get(self, name: str) -> Any:
        """What was kept under the name; None: nothing."""
        return self._held.get(name)

    def keep(self, name: str, value: Any) -> Any:
        """The value, now kept under the name."""
        self._held[name] = value
        writing = self._path.with_suffix(".writing")
        writing.write_text(json.dumps(self._held, indent=1))
        writing.replace(self._path)
        return value


class Resumed(Steps):
    """Steps of which those that are done are not run again."""

    def __init__(self, database: str, folder: Path, done: Done) -> None:
        super().__init__(database, folder)
        self._done = done

    def run(self, step: str, command: list[str]) -> Any:
        """What the command prints, or printed when it was run."""
        held = self._done.get(step)
        if held is None:
            found = super().run(step, command)
            held = self._done.keep(step, {"row": self.rows.pop(), "found": found})
        self.rows.append(held["row"])
        return held["found"]


def measure_pools(options: argparse.Namespace, folder: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    done = Done(folder, options.fresh)
    url = f"duckdb:///{folder / 'papers.duckdb'}"
    steps = Resumed(url, folder, done)
    prepare(steps, options, folder)
    model = folder / ENCODER
    if not model.exists():
        write_random_encoder(model, 64, 1, WORDS)
    said = ("--paper-template", "title")
    steps.pinakes("index encoder", "index", "--corpus", CORPUS, "--system", str(model), *said)
    sizes = draw(steps, options)
    systems = {"sparse_bm25": ("sparse_bm25", "title_abstract"), "encoder": (str(model), "title")}
    for name, (system, template) in systems.items():
        given = ("--system", system, "--query-template", template, "--paper-template", template)
        steps.pinakes(f"index {LARGE} {name}", "index", LARGE, *given)
        found = steps.pinakes(f"{name}, without Ray", "run", LARGE, "--again", *given)
        alone = done.get(f"hits {name}") or done.keep(f"hits {name}", digest_hits(url, found))
        with start_nodes(done, f"{name}, on two nodes") as address:
            on = () if address is None else ("--on", address)
            shared = steps.pinakes(f"{name}, on two nodes", "run", LARGE, "--again", *given, *on)
        if digest_hits(url, shared) != alone:
            sys.exit(f"{name}: the cluster found other hits")
    kept = [
        {"step": row["step"], "s": row["s"], "command's MiB": row["peak MiB"], PEAK: None}
        for row in steps.rows
        if "Ray" in row["step"] or "nodes" in row["step"]
    ]
    return kept, {"papers": options.papers, "pool sizes": ", ".join(map(str, sizes)), "same hits": "yes"}


@contextmanager
def start_nodes(done: Done, name: str) -> Iterator[str | None]:
    """The address of a cluster; None where what it is for is done."""
    if done.get(name) is not None:
        yield None
        return
    with start_cluster(2) as address:
        yield address


def digest_hits(url: str, found: Any) -> list[int]:
    """The digest of a run's hits, and how many there are."""
    run_id = int(found[0]["run_id"])
    with connect(url) as database, database.read() as session:
        row = session.rows(f"{DIGEST} WHERE run_id = :run_id", {"run_id": run_id})[0]
    return [int(row["digest"]), int(row["hits"])]


def measure_vectors(options: argparse.Namespace, folder: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    done = Done(folder, options.fresh)
    queries = next(make_blocks(options.queries, DIMENSIONS, 2))
    ties = np.random.default_rng(3).permutation(options.rows)

    def read() -> Iterator[Block]:
        first = 0
        for vectors in make_blocks(options.rows, DIMENSIONS, 1):
            yield Block(np.arange(first, first + len(vectors)), vectors)
            first += len(vectors)

    def keep(name: str, work: Any) -> dict[str, Any]:
        held: dict[str, Any] | None = done.get(name)
        if held is None:
            started = time.perf_counter()
            found, more = work()
            elapsed_s = time.perf_counter() - started
            np.savez(folder / f"{name}.npz", rows=found[0], scores=found[1])
            held = done.keep(name, {"step": name, "s": elapsed_s, "command's MiB": None, **more})
            print(f"{name}: {elapsed_s:.1f} s", file=sys.stderr)
        return held

    def search_shared() -> tuple[Any, dict[str, Any]]:
        with start_cluster(2) as address, watch_workers() as peaks:
            with share_vectors(address, folder / "set", read(), ties) as shared:
                found = shared.search(queries, DEPTH, "cosine")
            return found, {PEAK: max(peaks.values()) / 1024}

    def search_alone() -> tuple[Any, dict[str, Any]]:
        return search_exact(queries, read(), DEPTH, "cosine", ties), NO_WORKER

    alone = keep("vectors, without Ray", search_alone)
    written = keep("vectors, on two nodes, fragments written", search_shared)
    there = keep("vectors, on two nodes, fragments there", search_shared)
    first, *others = (np.load(folder / f"{row['step']}.npz") for row in (alone, written, there))
    for other in others:
        if not all(np.array_equal(first[name], other[name]) for name in ("rows", "scores")):
            sys.exit("vectors: the cluster found other hits")
    limit = needs.search(FRAGMENT_ROWS, DIMENSIONS, len(queries), len(queries) * DEPTH)
    limit_mib = limit / 2**20  # which is rounded up for Ray
    size_mib = sum(path.stat().st_size for path in (folder / "set").glob("*.parquet")) / 2**20
    for row in (written, there):
        if row[PEAK] > limit_mib:
            sys.exit(f"vectors: a worker took {row[PEAK]:.0f} MiB, more than its {limit_mib:.0f}")
    figures = {"vectors": options.rows, "fragments MiB": size_mib, "limit of a worker MiB": limit_mib}
    return [alone, written, there], figures


@contextmanager
def watch_workers() -> Iterator[dict[int, int]]:
    """The peak of resident memory of each worker that is there meanwhile: process -> KiB."""
    peaks: dict[int, int] = {}
    stopped = threading.Event()

    def watch() -> None:
        while not stopped.wait(POLL_S):
            for folder in Path("/proc").glob("[0-9]*"):
                try:
                    if (folder / "cmdline").read_bytes().startswith(b"ray::Hosted"):
                        status = (folder / "status").read_text()
                        peaks[int(folder.name)] = int(status.split("VmHWM:")[1].split()[0])
                except (OSError, IndexError):  # it has ended meanwhile
                    continue

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peaks
    finally:
        stopped.set()
        thread.join()


if __name__ == "__main__":
    main()
