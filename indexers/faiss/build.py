"""Faiss indexes from a stream of vectors: whole under their folder's name, or not there at all.

The folder holds the ids, the vectors as they came (what is found is scored again with them), and Faiss' own
file. Only a block, the training sample and Faiss' index are in memory. The same vectors give the same bytes,
at any number of threads the graph of `hnsw` apart: it is built by one thread unless more are asked for.
"""

from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import faiss
import numpy as np

from pinakes.errors import IndexingError
from pinakes.indexers.exact.scores import Vectors, check_vectors, require_distance
from pinakes.indexers.exact.search import search_exact
from pinakes.indexers.faiss.index import (
    ADDED_AT_ONCE,
    IDS_FILE,
    INDEX_FILE,
    KIND,
    VECTORS_FILE,
    FaissIndex,
    faiss_threads,
    open_vectors,
    prepare,
    read_blocks,
)
from pinakes.indexers.faiss.kinds import (
    TRAINED_PER_CELL,
    describe_factory,
    find_kind,
    make_index,
    settle_options,
)
from pinakes.indexers.lexical import Ids, distinct_ids
from pinakes.indexers.names import Distance
from pinakes.indexers.recall import RECALL_DEPTHS, measure_recall, sample_rows
from pinakes.indexers.side_folder import whole_folder, write_parameters

MIN_TRAINED: Final = 1 << 15
RECALL_QUERIES: Final = 200

Report = Callable[[str, int, int], None]
"""called with the phase (write, train, add, measure), the vectors done, and those in all (0: unknown)"""


@dataclass(frozen=True, slots=True)
class BuiltFaiss:
    """What was built; `recall` is depth -> the share of the exact hits that a search finds."""

    row_count: int
    parameters: dict[str, Any]
    recall: dict[int, float]
    index_bytes: int


def build_faiss(
    folder: Path,
    blocks: Iterable[tuple[Ids, Vectors]],
    kind: str,
    *,
    distance: Distance = "cosine",
    options: Mapping[str, int] | None = None,
    seed: int = 0,
    threads: int = 1,
    graph_threads: int = 1,
    progress: Report | None = None,
) -> BuiltFaiss:
    """A Faiss index in `folder` of the ids (b,) and vectors (b, d) of each block; a folder of that name goes.

    Recall@10 and @100 against exact search are measured with up to 200 of the vectors as queries, each depth
    by a search of its own with the kind's default options (`pinakes.indexers.recall`). `graph_threads` above
    1 makes `hnsw` faster to build, and different from build to build.
    Raises IndexingError for an id given twice, a number that is not finite, no vector at all, or an option
    that does not fit.
    """
    find_kind(kind)
    require_distance(distance)
    report = progress or _say_nothing
    with whole_folder(folder) as building, faiss_threads(graph_threads if kind == "hnsw" else threads):
        ids, dimensions = _write_vectors(building, blocks, report)
        vectors = open_vectors(building, len(ids), dimensions)
        settled = settle_options(kind, options or {}, len(ids), dimensions)
        index = make_index(kind, dimensions, distance, settled, seed)
        _train(index, vectors, distance, settled, seed, report)
        _add(index, vectors, distance, report)
        _write_index(index, building / INDEX_FILE)
        saved = {
            "kind": KIND,
            "faiss_kind": kind,
            "factory": describe_factory(kind, settled),
            "distance": distance,
            "options": settled,
            "seed": seed,
            "graph_threads": graph_threads,
            "row_count": len(ids),
            "dimensions": dimensions,
            "library": f"faiss {faiss.__version__}",
        }
        recall = _measure_recall(FaissIndex(index, kind, ids, vectors, distance), seed, threads, report)
        write_parameters(building, saved)
        index_bytes = (building / INDEX_FILE).stat().st_size
    searched = dict(find_kind(kind).search)
    parameters = {**saved, "search": searched, "recall_queries": min(RECALL_QUERIES, len(ids))}
    del parameters["kind"]
    return BuiltFaiss(len(ids), parameters, recall, index_bytes)


def _write_index(index: Any, path: Path) -> None:
    """Write the index; Faiss itself does not notice where closing a file fails, as on a full disk."""
    failed: list[OSError] = []
    with path.open("wb") as file:

        def write(part: bytes) -> int:
            try:
                return file.write(part)
            except OSError as error:
                failed.append(error)
                return 0

        try:
            faiss.write_index(index, faiss.PyCallbackIOWriter(write))
        except RuntimeError as error:
            raise failed[0] if failed else error from error


def _write_vectors(building: Path, blocks: Iterable[tuple[Ids, Vectors]], report: Report) -> tuple[Ids, int]:
    ids = array("q")
    dimensions = 0
    with (building / VECTORS_FILE).open("wb") as file:
        for block_ids, block in blocks:
            checked = check_vectors(block, "vector", len(ids))
            dimensions = dimensions or checked.values.shape[1]
            if checked.values.shape != (len(block_ids), dimensions):
                raise IndexingError(
                    f"a block of {len(block_ids)} ids has vectors of the shape {checked.values.shape}; "
                    f"expected ({len(block_ids)}, {dimensions})"
                )
            ids.frombytes(np.ascontiguousarray(block_ids, dtype=np.int64).tobytes())
            checked.values.astype("<f4", copy=False).tofile(file)
            report("write", len(ids), 0)
    if not ids:
        raise IndexingError("there is no vector to index; encode the corpus first")
    found = distinct_ids(ids)
    np.save(building / IDS_FILE, found, allow_pickle=False)
    return found, dimensions


def _train(
    index: Any, vectors: Vectors, distance: Distance, options: Mapping[str, int], seed: int, report: Report
) -> None:
    if index.is_trained:
        return
    wanted = max(MIN_TRAINED, TRAINED_PER_CELL * options.get("nlist", 0))
    sample = sample_rows(len(vectors), wanted, seed)
    report("train", 0, len(sample))
    index.train(prepare(np.asarray(vectors[sample]), distance))
    report("train", len(sample), len(sample))


def _add(index: Any, vectors: Vectors, distance: Distance, report: Report) -> None:
    # The graph grows slowly: say more often how far it is.
    step = 4096 if hasattr(index, "hnsw") else ADDED_AT_ONCE
    for start in range(0, len(vectors), step):
        index.add(prepare(np.asarray(vectors[start : start + step]), distance))
        report("add", index.ntotal, len(vectors))


def _measure_recall(index: FaissIndex, seed: int, threads: int, report: Report) -> dict[int, float]:
    """Depth -> mean recall of the search that users make."""
    vectors = index.vectors
    chosen = sample_rows(len(vectors), RECALL_QUERIES, seed + 1)
    report("measure", 0, len(chosen))
    queries = np.ascontiguousarray(vectors[chosen])
    depth = min(len(vectors), max(RECALL_DEPTHS) + 1)
    # Read block by block: the vectors may be larger than the memory.
    truth = search_exact(queries, read_blocks(vectors), depth, index.distance)
    exact = [scores[rows != own] for own, rows, scores in zip(chosen, *truth, strict=True)]
    recall = measure_recall(
        index.ids[chosen], exact, lambda k: index.search(queries, k, threads=threads).rankings
    )
    report("measure", len(chosen), len(chosen))
    return recall


def _say_nothing(_phase: str, _done: int, _total: int) -> None:
    """Progress for callers who want none."""
