"""What Ray costs at one worker, and what a second one brings, against one core without Ray.

    python benchmarks/cluster.py [--quick] [--texts N] [--rows N] [--papers N] [--only NAME …] [--json FILE]

Encoding, exact search with its fragments written and there already, BM25's index and ranking, and loads of
S2ORC's metadata and full texts into DuckDB, each by the plain functions in one thread (a load reads in a
second one), then on a local Ray cluster of one node with one core, then of two. The cluster runs before the
clock starts. Workers start within it; how long an encoder takes to be ready on one is told, and
`overhead_running` leaves that out, where workers import as much. `driver_s` is processor time of the command
on two workers: what no further one takes from it. Results are compared: files byte by byte, hits to the bit,
tables by their digests. All is on one machine: no network is in it, and two workers and the driver share the
cores.
"""

import argparse
import filecmp
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from _common import describe_machine, make_parser, report
from _encode_data import build_random_bert, read_texts
from _release import write_release
from _vectors import make_blocks

from pinakes.cluster.encoding import open_encoders
from pinakes.cluster.exact import share_vectors
from pinakes.cluster.sparse import build_shared, share_index
from pinakes.database import connect
from pinakes.index.encode import EncodeOptions, encode_source
from pinakes.indexers.analysis import named_analysis
from pinakes.indexers.encoder.presets import resolve_model
from pinakes.indexers.exact.passes import Block
from pinakes.indexers.exact.search import search_exact
from pinakes.indexers.sparse_bm25.analyse import TextBlock, list_blocks
from pinakes.indexers.sparse_bm25.build import build_sparse_bm25
from pinakes.indexers.sparse_bm25.index import SparseBm25Index
from pinakes.load.load import LoadRequest, load
from pinakes.loaders.synthetic.world import World
from pinakes.queries.install import initialise

ROOM = 1 << 30
DEPTH = 500
SHARDS = 16
"""files of an encoding"""
REPEATS = 8
"""times that the same texts are papers of BM25's index"""
TEXT_EVERY = 10
"""papers for one of which a full text is loaded"""
LOADED = ("papers", "paper_identifiers", "authorships", "sections", "citations", "pending_citations")


@dataclass(frozen=True)
class Job:
    """The same work by the plain functions and on a cluster; each gives what is compared."""

    plain: Callable[[], Any]
    shared: Callable[[str, int], Any]


def main() -> None:
    parser = make_parser("Ray's cost at one worker, and what a second one brings.")
    parser.add_argument("--texts", type=int, help="texts to encode (default: 600 with --quick, else 2,400)")
    parser.add_argument("--rows", type=int, help="documents searched (default: 131,072, else 393,216)")
    parser.add_argument("--queries", type=int, default=4_000)
    parser.add_argument("--papers", type=int, help="papers of BM25 (default: 200,000, else 800,000)")
    parser.add_argument("--loaded", type=int, help="papers that are loaded (default: 20,000, else 200,000)")
    parser.add_argument("--only", nargs="+", choices=("encode", "exact", "bm25", "load"), default=())
    options = parser.parse_args()
    quick = options.quick
    options.texts = options.texts or (600 if quick else 2_400)
    options.rows = options.rows or (131_072 if quick else 393_216)
    options.papers = options.papers or (200_000 if quick else 800_000)
    options.loaded = options.loaded or (20_000 if quick else 200_000)
    os.environ["OMP_NUM_THREADS"] = "1"
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        rows, start_s = measure(options, Path(folder))
    figures = {"start_of_a_worker_s": start_s, "machine": describe_machine()}
    report("Ray against one core", rows, figures, options.json)


def measure(options: argparse.Namespace, folder: Path) -> tuple[list[dict[str, Any]], float]:
    """A row for each job, and how long a worker takes to be ready."""
    makers = {"encode": make_encoding, "exact": make_search, "bm25": make_bm25, "load": make_loads}
    jobs: dict[str, Job] = {}
    for name, make in makers.items():
        if not options.only or name in options.only:
            jobs |= make(options, folder)
    found: dict[str, dict[str, Any]] = {name: {"work": name} for name in jobs}
    expected = {}
    for name, job in jobs.items():
        found[name]["plain_s"], expected[name] = clock(name, job.plain)
    for workers in (1, 2):
        with start_cluster(workers) as address:
            if workers == 1:
                start_s, _ = clock("start of a worker", lambda: start_worker(address, folder))
            for name, job in jobs.items():
                own_s = time.process_time()
                elapsed_s, gave = clock(f"{name} on {workers}", lambda: job.shared(address, workers))  # noqa: B023
                found[name][f"workers_{workers}_s"] = elapsed_s
                found[name]["driver_s"] = time.process_time() - own_s
                require_same(name, expected[name], gave)
    for row in found.values():
        row["overhead"] = row["workers_1_s"] / row["plain_s"] - 1
        running = (row["workers_1_s"] - start_s) / row["plain_s"] - 1
        row["overhead_running"] = None if row["work"].startswith("load") else running
        row["efficiency_1_to_2"] = row["workers_1_s"] / (2 * row["workers_2_s"])
    return list(found.values()), start_s


def start_worker(address: str, folder: Path) -> None:
    """An encoder ready on a worker: it imports torch, and reads a model's weights."""
    model = folder / "small"
    if not model.exists():
        build_random_bert(model, ["a text"], num_hidden_layers=1, hidden_size=384, intermediate_size=1536)
    with open_encoders(address, resolve_model(str(model)), precision="fp32"):
        pass


def clock(name: str, work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    gave = work()
    elapsed_s = time.perf_counter() - started
    print(f"{name}: {elapsed_s:.2f} s", file=sys.stderr)
    return elapsed_s, gave


@contextmanager
def start_cluster(workers: int) -> Iterator[str]:
    """A cluster of nodes with one core each, connected to."""
    import ray
    from ray.cluster_utils import Cluster

    common = {"include_dashboard": False, "object_store_memory": ROOM}
    # A worker counts as much as what else runs here: Ray has others go before.
    settings = {"worker_niceness": 0}
    cluster = Cluster(True, head_node_args={"num_cpus": 0, "_system_config": settings, **common})
    try:
        for _ in range(workers):
            cluster.add_node(num_cpus=1, object_store_memory=ROOM)
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        yield str(cluster.address)
    finally:
        ray.shutdown()
        cluster.shutdown()


def make_encoding(options: argparse.Namespace, folder: Path) -> dict[str, Job]:
    _, texts = read_texts(options.texts)
    shape = {"num_hidden_layers": 6, "hidden_size": 384, "intermediate_size": 1536}
    model = str(build_random_bert(folder / "bert", texts[:500], **shape))
    source = folder / "texts.parquet"
    pq.write_table(pa.table({"id": range(len(texts)), "text": texts}), source)
    given = EncodeOptions(precision="fp32", devices=("cpu",), shard_rows=-(-options.texts // SHARDS))

    def encode(name: str, on: str | None) -> Path:
        encode_source(source, model, folder / name, replace(given, on=on))
        return folder / name

    return {"encode": Job(lambda: encode("plain", None), lambda on, workers: encode(f"shared{workers}", on))}


def make_search(options: argparse.Namespace, folder: Path) -> dict[str, Job]:
    path = folder / "vectors.npy"
    held = np.lib.format.open_memmap(path, "w+", np.float32, (options.rows, 384))
    first = 0
    for block in make_blocks(options.rows, 384, 1):
        held[first : first + len(block)] = block
        first += len(block)
    queries = next(make_blocks(options.queries, 384, 2))
    ties = np.random.default_rng(3).permutation(options.rows)

    def read() -> Iterator[Block]:
        vectors = np.load(path, mmap_mode="r")
        for start in range(0, options.rows, 16_384):
            stop = min(start + 16_384, options.rows)
            yield Block(np.arange(start, stop), np.array(vectors[start:stop]))

    def search(address: str, name: str) -> Any:
        with share_vectors(address, folder / name, read(), ties) as shared:
            return shared.search(queries, DEPTH, "cosine")

    plain = lambda: search_exact(queries, read(), DEPTH, "cosine", ties)  # noqa: E731
    return {
        "exact search, fragments written": Job(plain, lambda on, workers: search(on, f"set{workers}")),
        "exact search, fragments there": Job(plain, lambda on, workers: search(on, f"set{workers}")),
    }


def make_bm25(options: argparse.Namespace, folder: Path) -> dict[str, Job]:
    drawn = random.Random(4)
    words = [f"w{int(drawn.paretovariate(0.4)) % 500_000:x}" for _ in range(2_000_000)]
    texts = [" ".join(drawn.choices(words, k=120)) for _ in range(options.papers // REPEATS)]
    asked = [" ".join(drawn.choices(words, k=150)) for _ in range(options.queries)]
    analysis = named_analysis("lucene")
    once = list(list_blocks(enumerate(texts)))
    blocks = [
        TextBlock(ids + number * len(texts), strings) for number in range(REPEATS) for ids, strings in once
    ]

    def build(name: str, on: str | None) -> Path:
        if on is None:
            build_sparse_bm25(folder / name, iter(blocks), analysis=analysis)
        else:
            build_shared(on, folder / name, iter(blocks), analysis=analysis)
        return folder / name

    def rank(on: str | None) -> Any:
        index = SparseBm25Index.open(folder / "index")
        if on is None:
            return index.search_many(asked, DEPTH)
        with share_index(on, folder / "index", index) as shared:
            return shared.search_many(asked, DEPTH)

    return {
        "bm25 index": Job(lambda: build("index", None), lambda on, workers: build(f"index{workers}", on)),
        "bm25 ranking": Job(lambda: rank(None), lambda on, _workers: rank(on)),
    }


def make_loads(options: argparse.Namespace, folder: Path) -> dict[str, Job]:
    world = World(options.loaded, 1)
    write_release(folder / "metadata", world, layout="2020", shards=SHARDS)
    write_full_texts(folder / "texts", options.loaded // TEXT_EVERY)

    with connect(folder / "empty.duckdb") as database:
        initialise(database, pass_over_missing=True)

    def load_all(source: str, name: str, on: str | None) -> Any:
        file = shutil.copy(folder / "empty.duckdb", folder / f"{source}-{name}.duckdb")
        with connect(file) as database:
            with database.begin() as session:
                session.execute("SET threads = 1")
            load(database, LoadRequest("s2orc", folder / source, corpus="loaded", on=on))
            with database.read() as session:
                digests = [
                    session.scalar(f"SELECT bit_xor(hash(rows)) FROM {table} AS rows") for table in LOADED
                ]
        return [(np.array([digest or 0]),) for digest in digests]

    def make(source: str) -> Job:
        return Job(
            lambda: load_all(source, "plain", None),
            lambda on, workers: load_all(source, f"shared{workers}", on),
        )

    return {"load of metadata": make("metadata"), "load of full texts": make("texts")}


def write_full_texts(folder: Path, papers: int) -> None:
    """Full texts as S2ORC's of 2020: 25 cited works, 30 paragraphs of 120 words with two mentions each."""
    drawn = random.Random(5)
    words = [f"w{int(drawn.paretovariate(0.7)) % 90_000:x}" for _ in range(300_000)]

    def write(number: int) -> dict[str, Any]:
        works = {
            f"BIBREF{place}": {
                "title": " ".join(drawn.choices(words, k=9)),
                "authors": [],
                "year": 2000 + place,
            }
            for place in range(25)
        }
        spans = [{"start": 5 + place, "end": 9 + place, "text": "[1]"} for place in (0, 20)]
        body = [
            {
                "text": " ".join(drawn.choices(words, k=120)),
                "cite_spans": [{**span, "ref_id": f"BIBREF{drawn.randrange(25)}"} for span in spans],
                "ref_spans": [],
                "section": f"Section {place // 5}",
            }
            for place in range(30)
        ]
        return {
            "paper_id": str(number),
            "abstract": [],
            "body_text": body,
            "bib_entries": works,
            "ref_entries": {},
        }

    folder.mkdir()
    for shard in range(SHARDS):
        with (folder / f"pdf_parses_{shard}.jsonl").open("wb") as file:
            for number in range(shard, papers, SHARDS):
                file.write(orjson.dumps(write(number)) + b"\n")


def require_same(name: str, expected: Any, found: Any) -> None:
    """Stop where what was made on a cluster is not what was made without one."""
    if isinstance(expected, Path):
        files = sorted(path.name for path in expected.iterdir() if path.name != ".seen.json")
        same = filecmp.cmpfiles(expected, found, files, shallow=False)[0] == files
    else:
        pairs = zip(expected, found, strict=True)
        same = all(np.array_equal(a, b) for left, right in pairs for a, b in zip(left, right, strict=True))
    if not same:
        sys.exit(f"{name}: the cluster gave something else")


if __name__ == "__main__":
    main()
