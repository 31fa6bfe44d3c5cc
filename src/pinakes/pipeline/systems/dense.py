"""Encoders: texts to stored vectors, and the exact comparison of a query's vector with its candidates'.

An encoder at another precision is another encoder, with a table of its own, so that no ranking mixes them.
Leaves out: the model and the search (`pinakes.indexers`), and the tables (`vectors`).
"""

import time
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.database import Database
from pinakes.errors import RunError
from pinakes.indexers.encode import encode_texts
from pinakes.indexers.exact import score_pool, search_exact
from pinakes.indexers.exact_scores import Distance
from pinakes.indexers.model import choose_device, choose_precision, device_name, load_encoder
from pinakes.indexers.presets import ModelSource, resolve_model
from pinakes.pipeline.progress import Progress
from pinakes.pipeline.systems.base import IndexSummary, Ranking, SystemDescription, SystemOptions
from pinakes.pipeline.systems.vectors import (
    StoredEncoder,
    Vectors,
    count_texts,
    fetch_documents,
    fetch_queries,
    find_encoder,
    read_texts,
    register_encoder,
    select_missing,
    select_texts,
    write_vectors,
)
from pinakes.pipeline.workload import Workload
from pinakes.schema import vectors_table

QUERIES_AT_ONCE: Final = 512


def make_dense(name: str, options: SystemOptions) -> "DenseSystem":
    """An encoder by preset, folder or hub id."""
    return DenseSystem(name, resolve_model(name), options)


class DenseSystem:
    """A system that compares vectors."""

    def __init__(self, name: str, source: ModelSource, options: SystemOptions) -> None:
        self.name = source.name
        self._asked_as = name
        self._source = source
        self._options = options
        self._device = options.device or choose_device()
        wanted = options.precision
        self._precision = choose_precision(self._device) if wanted == "auto" else wanted

    def index(self, database: Database, workload: Workload, progress: Progress) -> IndexSummary:
        """Encode every text of the workload that has no vector yet, one transaction a batch."""
        started = time.monotonic()
        encoder = load_encoder(self._source, precision=self._precision, device=self._device)  # type: ignore[arg-type]
        stored = register_encoder(database, self._table_name(), encoder)
        vectors = vectors_table(stored.name, stored.dimensions)
        added = already = 0
        missing = select_missing(workload, vectors)
        with database.read() as reader:
            owed = count_texts(reader, select_texts(workload))
            total = count_texts(reader, missing)
            already = owed - total
            progress.start(f"encode {workload.benchmark.name} by {stored.name}", total)
            try:
                for batch in encode_texts(encoder, read_texts(reader, missing)):
                    write_vectors(database, vectors, batch)
                    added += len(batch.keys)
                    progress.advance(len(batch.keys))
            finally:
                progress.finish()
        return IndexSummary(self.name, added, already, time.monotonic() - started)

    def describe(self, database: Database, workload: Workload) -> SystemDescription:
        """The encoder's row, the distance and the device."""
        stored = self._require(database, workload)
        return SystemDescription(
            {"encoder": stored.name, "distance": self._options.distance, "search": "exact"},
            device=device_name(self._device),
            encoder_id=stored.encoder_id,
            encoder_revision=stored.revision,
            precision=self._precision,
        )

    def rank(self, database: Database, workload: Workload, progress: Progress) -> Iterator[Ranking]:
        """By exact comparison; a candidate without a text has no vector and is in no ranking."""
        stored = self._require(database, workload)
        table = vectors_table(stored.name, stored.dimensions)
        with database.read() as session:
            rows, documents = fetch_documents(session, workload, table)
            query_rows, queries = fetch_queries(session, workload, table)
        progress.start(f"rank {workload.benchmark.name} by {stored.name}", len(query_rows))
        distance: Distance = self._options.distance  # type: ignore[assignment]
        rank = _rank_shared if workload.pools is None else _rank_pools
        try:
            for ranking in rank(workload, rows, documents, query_rows, queries, distance, self._device):
                yield ranking
                progress.advance(1)
        finally:
            progress.finish()

    def _table_name(self) -> str:
        return f"{self.name}_{self._precision}"

    def _require(self, database: Database, workload: Workload) -> StoredEncoder:
        benchmark, precision = workload.benchmark.name, self._precision
        command = f"`pinakes index {benchmark} --system {self._asked_as} --precision {precision}`"
        with database.read() as session:
            stored = find_encoder(session, self._table_name())
            if stored is None:
                raise RunError(f"no text was encoded by {self._table_name()} yet; do it with {command}.")
            vectors = vectors_table(stored.name, stored.dimensions)
            missing = count_texts(session, select_missing(workload, vectors))
        if missing:
            raise RunError(
                f"{missing} texts have no vector of {self._table_name()}; encode them with {command}."
            )
        return stored


def _rank_shared(
    workload: Workload,
    rows: NDArray[np.int64],
    documents: Vectors,
    query_rows: list[int],
    queries: Vectors,
    distance: Distance,
    device: str,
) -> Iterator[Ranking]:
    if not len(rows):
        return
    depth = min(workload.benchmark.depth or len(rows), len(rows))
    ties = workload.tie_order[rows]
    for start in range(0, len(query_rows), QUERIES_AT_ONCE):
        part = slice(start, start + QUERIES_AT_ONCE)
        found, scores = search_exact(queries[part], documents, depth, distance, ties, device)
        for number, position in enumerate(query_rows[part]):
            yield Ranking(workload.query_ids[position], rows[found[number]], scores[number])


def _rank_pools(
    workload: Workload,
    rows: NDArray[np.int64],
    documents: Vectors,
    query_rows: list[int],
    queries: Vectors,
    distance: Distance,
    _device: str,
) -> Iterator[Ranking]:
    ties = workload.tie_order[rows]
    for vector, position in zip(queries, query_rows, strict=True):
        query_id = workload.query_ids[position]
        pool = np.flatnonzero(np.isin(rows, (workload.pools or {})[query_id]))
        found, scores = score_pool(vector, documents, pool, distance, ties)
        depth = workload.benchmark.depth or len(found)
        yield Ranking(query_id, rows[found[:depth]], scores[:depth])
