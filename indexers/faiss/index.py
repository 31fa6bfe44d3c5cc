"""Search through a Faiss index that was built: candidates from Faiss, scores and order from the vectors.

What Faiss finds is scored again in float32 (`exact.scores`), so that scores are those of an exact search and
the order is total. A query for which Faiss finds too few is answered by exact search instead: never fewer
than min(k, pool) hits.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, cast

import faiss
import numpy as np

from pinakes.distinct import find_distinct
from pinakes.errors import IndexingError
from pinakes.indexers.exact.scores import (
    CheckedVectors,
    Rows,
    Vectors,
    check_vectors,
    require_width,
    score_rows,
)
from pinakes.indexers.exact.search import search_exact
from pinakes.indexers.faiss.kinds import check_options, find_kind, search_parameters
from pinakes.indexers.lexical import Ids, Ranked, TieOrder, by_paper_id, check_k, positions_of
from pinakes.indexers.names import Distance
from pinakes.indexers.side_folder import read_parameters

KIND: Final = "faiss"
IDS_FILE: Final = "ids.npy"
VECTORS_FILE: Final = "vectors.f32"
INDEX_FILE: Final = "index.faiss"
ADDED_AT_ONCE: Final = 1 << 16
MIN_EXTRA: Final = 32
EXACT_POOL: Final = 10_000
"""Up to so many papers, looking at each is as fast as a filtered walk, and misses none"""
MOST_ON_GPU: Final = 2048
"""As many hits a query as faiss-gpu gives"""


@dataclass(frozen=True, slots=True)
class Found:
    """The ranking of each query, and how many queries were answered by exact search instead."""

    rankings: list[Ranked]
    exact_queries: int


class FaissIndex:
    """A Faiss index with its ids and vectors."""

    def __init__(self, index: Any, kind: str, ids: Ids, vectors: Vectors, distance: Distance) -> None:
        self.ids, self.vectors, self.distance, self.kind = ids, vectors, distance, kind
        self._index = index
        self._on_gpu = _copy_to_gpu(index, kind)
        self._by_id = np.argsort(ids)
        self._sorted_ids = ids[self._by_id]

    @classmethod
    def open(cls, folder: Path) -> "FaissIndex":
        """The index that `build_faiss` made in `folder`; IndexingError if it is not as it was built."""
        saved = read_parameters(folder, KIND)
        try:
            index = faiss.read_index(str(folder / INDEX_FILE))
            ids = np.load(folder / IDS_FILE, allow_pickle=False)
            vectors = open_vectors(folder, saved["row_count"], saved["dimensions"])
        except (OSError, ValueError, RuntimeError) as problem:
            raise IndexingError(f"{folder} cannot be read ({problem}); build the index again") from problem
        if not (index.ntotal == len(ids) == saved["row_count"]):
            raise IndexingError(
                f"{folder} holds {index.ntotal} vectors and {len(ids)} ids, but {saved['row_count']} were "
                "indexed; build the index again"
            )
        return cls(index, saved["faiss_kind"], ids, vectors, cast(Distance, saved["distance"]))

    @property
    def row_count(self) -> int:
        """How many vectors the index holds."""
        return len(self.ids)

    def search(
        self,
        queries: Vectors,
        k: int,
        *,
        tie_order: TieOrder = by_paper_id,
        pool: Ids | None = None,
        options: Mapping[str, int] | None = None,
        threads: int = 1,
    ) -> Found:
        """The best `k` of the pool for each query (q, d): min(k, pool) hits, by score, then `tie_order`.

        `pool` names ids (None: all); an id that the index does not hold is an IndexingError. `options` are
        nprobe or ef_search. Equal scores at rank `k`: which are in is decided among Faiss' candidates.
        """
        rows = None if pool is None else self._rows_of(pool)
        size = self.row_count if rows is None else len(rows)
        found = self._search_rows(queries, k, rows, options or {}, threads, tie_order)
        short = [number for number, (hits, _) in enumerate(found) if len(hits) < min(k, size)]
        if short and size:
            for number, ranked in zip(
                short, self._search_exactly(queries[short], k, rows, tie_order), strict=True
            ):
                found[number] = ranked
        return Found([Ranked(self.ids[hits], scores) for hits, scores in found], len(short))

    def _search_rows(
        self,
        queries: Vectors,
        k: int,
        rows: Rows | None,
        options: Mapping[str, int],
        threads: int,
        tie_order: TieOrder,
    ) -> list[tuple[Rows, Vectors]]:
        """Rows and scores of what Faiss finds, maybe fewer than `k`; none from a pool that is small."""
        check_k(k)
        settings = check_options(self.kind, options, find_kind(self.kind).search)
        checked = check_vectors(queries, "query")
        require_width(checked, CheckedVectors(self.vectors[:1], np.ones(1)))
        size = self.row_count if rows is None else len(rows)
        if not len(queries) or (rows is not None and size <= EXACT_POOL):
            return [(np.empty(0, np.int64), np.empty(0, np.float32)) for _ in queries]
        requested = min(size, max(k * find_kind(self.kind).refine, k + MIN_EXTRA))
        if "ef_search" in settings:
            settings["ef_search"] = max(settings["ef_search"], requested)
        selector, _kept = _select(rows, self.row_count)
        parameters = search_parameters(self.kind, settings, selector)
        with faiss_threads(threads):
            index = self._on_gpu if selector is None and requested <= MOST_ON_GPU else self._index
            _, labels = index.search(prepare(queries, self.distance), requested, params=parameters)
        return self._rank(checked, labels.astype(np.int64), k, tie_order)

    def _rank(
        self, queries: CheckedVectors, labels: Rows, k: int, tie_order: TieOrder
    ) -> list[tuple[Rows, Vectors]]:
        query, place = np.nonzero(labels >= 0)
        held, document = np.unique(labels[query, place], return_inverse=True)
        documents = check_vectors(np.asarray(self.vectors[held]), "document")
        scores = score_rows(queries, documents, query, document, self.distance)
        order = np.lexsort((tie_order(self.ids[held])[document], -scores, query))
        starts = np.searchsorted(query[order], np.arange(len(labels) + 1))
        parts = [order[start : min(start + k, end)] for start, end in pairwise(starts)]
        return [(held[document[part]], scores[part]) for part in parts]

    def _search_exactly(
        self, queries: Vectors, k: int, rows: Rows | None, tie_order: TieOrder
    ) -> list[tuple[Rows, Vectors]]:
        ties = tie_order(self.ids if rows is None else self.ids[rows])
        found, scores = search_exact(queries, read_blocks(self.vectors, rows), k, self.distance, ties)
        places = found if rows is None else rows[found]
        return list(zip(places, scores, strict=True))

    def _rows_of(self, pool: Ids) -> Rows:
        wanted = find_distinct(np.asarray(pool, dtype=np.int64))
        return np.sort(self._by_id[positions_of(wanted, self._sorted_ids, "the Faiss index")])


def open_vectors(folder: Path, rows: int, dimensions: int) -> Vectors:
    """The vectors (n, d) that were written, mapped: read from the disk as they are looked at."""
    return np.memmap(folder / VECTORS_FILE, dtype="<f4", mode="r", shape=(rows, dimensions))


def prepare(vectors: Vectors, distance: Distance) -> Vectors:
    """What Faiss compares: vectors of length 1 (or 0) for the cosine, else the vectors themselves."""
    checked = check_vectors(vectors, "vector")
    return checked.directions().astype(np.float32) if distance == "cosine" else checked.values


@contextmanager
def faiss_threads(count: int) -> Iterator[None]:
    """Faiss with that many threads; afterwards with as many as before."""
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(max(1, count))
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def read_blocks(vectors: Vectors, rows: Rows | None = None) -> Iterator[Vectors]:
    """The vectors, or those of the rows, in blocks of `ADDED_AT_ONCE`."""
    for start in range(0, len(vectors) if rows is None else len(rows), ADDED_AT_ONCE):
        part = slice(start, start + ADDED_AT_ONCE)
        yield np.array(vectors[part] if rows is None else vectors[rows[part]])


def _select(rows: Rows | None, count: int) -> tuple[Any, Any]:
    """Faiss' filter of the rows, and the array that it reads and that has to outlive it."""
    if rows is None:
        return None, None
    wanted = np.zeros(count, dtype=bool)
    wanted[rows] = True
    bits = np.packbits(wanted, bitorder="little")
    return faiss.IDSelectorBitmap(len(bits), faiss.swig_ptr(bits)), bits


def _copy_to_gpu(index: Any, kind: str) -> Any:
    """The index on the first GPU, where faiss-gpu is installed, sees one and has the kind; else as it is."""
    if faiss.get_num_gpus() == 0 or not find_kind(kind).on_gpu:
        return index
    return faiss.index_cpu_to_gpu(faiss.StandardGpuResources(), 0, index)
