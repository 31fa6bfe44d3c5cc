"""Encoders: texts to stored vectors, and the exact comparison of a query's vector with its candidates'.

An encoder at another precision is another encoder, with a table of its own, so that no ranking mixes them.
Leaves out: the model and the search (`pinakes.indexers`).
"""

import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Database, Session
from pinakes.errors import IndexingError, RunError
from pinakes.indexers.encode import EncodedBatch, encode_texts
from pinakes.indexers.encoder import Encoder
from pinakes.indexers.exact import score_pool, search_exact
from pinakes.indexers.exact_scores import Distance
from pinakes.indexers.model import choose_device, choose_precision, device_name, load_encoder
from pinakes.indexers.presets import ModelSource, resolve_model
from pinakes.pipeline.progress import Progress
from pinakes.pipeline.systems.base import IndexSummary, Ranking, SystemDescription, SystemOptions
from pinakes.pipeline.workload import Workload
from pinakes.queries.relations import select_candidate_texts, select_queries
from pinakes.schema import encoders, vectors_table

Vectors = NDArray[np.float32]

QUERIES_AT_ONCE: Final = 512


def make_dense(name: str, options: SystemOptions) -> "DenseSystem":
    """An encoder by preset, folder or hub id."""
    return DenseSystem(name, resolve_model(name), options)


@dataclass(frozen=True, slots=True)
class _StoredEncoder:
    encoder_id: int
    name: str
    dimensions: int
    revision: str


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
        stored = _register(database, self._table_name(), encoder)
        vectors = vectors_table(stored.name, stored.dimensions)
        added = already = 0
        missing = _select_missing(workload, vectors)
        with database.read() as reader:
            owed = int(reader.scalar(_count(_select_texts(workload))))
            total = int(reader.scalar(_count(missing)))
            already = owed - total
            progress.start(f"encode {workload.benchmark.name} by {stored.name}", total)
            try:
                for batch in encode_texts(encoder, _read_texts(reader, missing)):
                    _write(database, vectors, batch)
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
            rows, documents = _fetch_documents(session, workload, table)
            query_rows, queries = _fetch_queries(session, workload, table)
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

    def _require(self, database: Database, workload: Workload) -> _StoredEncoder:
        benchmark, precision = workload.benchmark.name, self._precision
        command = f"`pinakes index {benchmark} --system {self._asked_as} --precision {precision}`"
        with database.read() as session:
            stored = _find(session, self._table_name())
            if stored is None:
                raise RunError(f"no text was encoded by {self._table_name()} yet; do it with {command}.")
            vectors = vectors_table(stored.name, stored.dimensions)
            missing = int(session.scalar(_count(_select_missing(workload, vectors))))
        if missing:
            raise RunError(
                f"{missing} texts have no vector of {self._table_name()}; encode them with {command}."
            )
        return stored


def _find(session: Session, name: str) -> _StoredEncoder | None:
    row = next(iter(session.rows(sa.select(encoders).where(encoders.c.name == name))), None)
    return (
        None if row is None else _StoredEncoder(row["encoder_id"], name, row["dimensions"], row["revision"])
    )


def _register(database: Database, name: str, encoder: Encoder) -> _StoredEncoder:
    """The encoder's row and table of vectors; both are made where they are missing.

    Raises:
        IndexingError: another model has that name in this database.
    """
    with database.begin() as session:
        row = next(iter(session.rows(sa.select(encoders).where(encoders.c.name == name))), None)
        described = _describe(encoder)
        if row is None:
            last = session.scalar(sa.select(sa.func.coalesce(sa.func.max(encoders.c.encoder_id), 0)))
            session.execute(sa.insert(encoders).values(encoder_id=int(last) + 1, name=name, **described))
            vectors_table(name, encoder.dimensions).create(session.connection)
            return _StoredEncoder(int(last) + 1, name, encoder.dimensions, encoder.revision)
        different = sorted(key for key, value in described.items() if key != "model" and row[key] != value)
        if different:
            raise IndexingError(
                f"this database has vectors of another model under the name {name}: {', '.join(different)} "
                "differ. Rename the model's folder, or use another database."
            )
        return _StoredEncoder(row["encoder_id"], name, row["dimensions"], row["revision"])


def _describe(encoder: Encoder) -> dict[str, Any]:
    return {
        "model": encoder.origin,
        "revision": encoder.revision,
        "weights_digest": encoder.digest,
        "dimensions": encoder.dimensions,
        "pooling": encoder.pooling,
        "max_tokens": encoder.max_tokens,
        "normalized": encoder.normalize,
        "precision": encoder.precision,
    }


def _select_texts(workload: Workload) -> sa.Select[Any]:
    """text_digest and text of every distinct, non-empty text of the workload."""
    sides = [
        select_queries(workload.benchmark, workload.query_template).order_by(None).subquery(),
        select_candidate_texts(workload.benchmark, workload.paper_template).order_by(None).subquery(),
    ]
    texts = sa.union(*(sa.select(side.c.text).where(side.c.text != "") for side in sides)).subquery("texts")
    return sa.select(_digest(texts.c.text), texts.c.text)


def _digest(text: sa.ColumnElement[Any]) -> sa.Label[Any]:
    return sa.cast(sa.func.md5(text), sa.Uuid).label("text_digest")


def _select_missing(workload: Workload, vectors: sa.Table) -> sa.Select[Any]:
    texts = _select_texts(workload).subquery("wanted")
    known = sa.select(vectors.c.text_digest).where(vectors.c.text_digest == texts.c.text_digest)
    return sa.select(texts.c.text_digest, texts.c.text).where(~known.exists())


def _count(texts: sa.Select[Any]) -> sa.Select[Any]:
    return sa.select(sa.func.count()).select_from(texts.subquery())


def _read_texts(session: Session, missing: sa.Select[Any]) -> Iterator[tuple[uuid.UUID, str]]:
    ordered = missing.order_by("text_digest")
    for part in session.stream(ordered, rows=8_192):
        for digest, text in zip(part["text_digest"].to_pylist(), part["text"].to_pylist(), strict=True):
            yield uuid.UUID(str(digest)), text


def _write(database: Database, vectors: sa.Table, batch: EncodedBatch[uuid.UUID]) -> None:
    dimensions = batch.vectors.shape[1]
    embedding = pa.FixedSizeListArray.from_arrays(pa.array(batch.vectors.ravel()), dimensions)
    rows = pa.table({"text_digest": pa.array([str(key) for key in batch.keys]), "embedding": embedding})
    with database.begin() as session:
        session.insert(vectors, rows)


def _fetch_documents(
    session: Session, workload: Workload, vectors: sa.Table
) -> tuple[NDArray[np.int64], Vectors]:
    """Rows of the workload's candidates that have a vector, ascending (m,), and the vectors (m, d)."""
    texts = (
        select_candidate_texts(workload.benchmark, workload.paper_template).order_by(None).subquery("texts")
    )
    query = (
        sa.select(texts.c.paper_id, vectors.c.embedding)
        .join(vectors, vectors.c.text_digest == _digest(texts.c.text).element)
        .where(texts.c.text != "")
        .order_by(texts.c.paper_id)
    )
    ids, matrix = _fetch(session, query, "paper_id", vectors)
    return np.searchsorted(workload.paper_ids, np.asarray(ids, dtype=np.int64)), matrix


def _fetch_queries(session: Session, workload: Workload, vectors: sa.Table) -> tuple[list[int], Vectors]:
    """Positions in `workload.query_ids` of the queries that have a vector, and the vectors."""
    texts = select_queries(workload.benchmark, workload.query_template).order_by(None).subquery("texts")
    query = (
        sa.select(texts.c.query_id, vectors.c.embedding)
        .join(vectors, vectors.c.text_digest == _digest(texts.c.text).element)
        .where(texts.c.text != "")
        .order_by(texts.c.query_id)
    )
    ids, matrix = _fetch(session, query, "query_id", vectors)
    position = {query_id: number for number, query_id in enumerate(workload.query_ids)}
    return [position[query_id] for query_id in ids], matrix


def _fetch(session: Session, query: sa.Select[Any], key: str, vectors: sa.Table) -> tuple[list[Any], Vectors]:
    ids: list[Any] = []
    blocks: list[Vectors] = []
    for part in session.stream(query, rows=8_192):
        ids.extend(part[key].to_pylist())
        column = part["embedding"].combine_chunks()
        values = column.flatten().to_numpy(zero_copy_only=False).astype(np.float32, copy=False)
        blocks.append(values.reshape(part.num_rows, -1))
    width: int = vectors.info["dimensions"]
    return ids, np.concatenate(blocks) if blocks else np.empty((0, width), np.float32)


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
