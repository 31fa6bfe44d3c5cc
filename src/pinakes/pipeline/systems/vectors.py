"""The rows of `encoders` and the tables of vectors: which texts still need one, writing, reading.

Leaves out: making vectors (`pinakes.indexers`) and comparing them (`dense`).
"""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Database, Session
from pinakes.errors import IndexingError
from pinakes.indexers.encode import EncodedBatch
from pinakes.indexers.encoder import Encoder
from pinakes.pipeline.workload import Workload
from pinakes.queries.relations import select_candidate_texts, select_queries
from pinakes.schema import encoders, next_id, vectors_table

Vectors = NDArray[np.float32]

# What a model was found by, and the revision that names the same weights, may differ: a package, a hub.
_DECIDING: Final = ("weights_digest", "dimensions", "pooling", "max_tokens", "normalized", "precision")


@dataclass(frozen=True, slots=True)
class StoredEncoder:
    """A row of `encoders`; its vectors are in the table `vectors_<name>`."""

    encoder_id: int
    name: str
    dimensions: int
    revision: str


def find_encoder(session: Session, name: str) -> StoredEncoder | None:
    """The encoder of that name; None where it has encoded nothing yet."""
    row = session.first(sa.select(encoders).where(encoders.c.name == name))
    return None if row is None else StoredEncoder(row["encoder_id"], name, row["dimensions"], row["revision"])


def register_encoder(database: Database, name: str, encoder: Encoder) -> StoredEncoder:
    """The encoder's row and table of vectors; both are made where they are missing.

    Raises:
        IndexingError: another model has that name in this database.
    """
    with database.begin() as session:
        row = session.first(sa.select(encoders).where(encoders.c.name == name))
        described = _describe(encoder)
        if row is None:
            encoder_id = next_id(session, encoders.c.encoder_id)
            session.execute(sa.insert(encoders).values(encoder_id=encoder_id, name=name, **described))
            vectors_table(name, encoder.dimensions).create(session.connection)
            return StoredEncoder(encoder_id, name, encoder.dimensions, encoder.revision)
        different = sorted(key for key, value in described.items() if key in _DECIDING and row[key] != value)
        if different:
            raise IndexingError(
                f"this database has vectors of another model under the name {name}: {', '.join(different)} "
                "differ. Rename the model's folder, or use another database."
            )
        return StoredEncoder(row["encoder_id"], name, row["dimensions"], row["revision"])


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


def select_texts(workload: Workload) -> sa.Select[Any]:
    """text_digest and text of every distinct, non-empty text of the workload."""
    sides = [
        select_queries(workload.benchmark, workload.query_template).order_by(None).subquery(),
        select_candidate_texts(workload.benchmark, workload.paper_template).order_by(None).subquery(),
    ]
    texts = sa.union(*(sa.select(side.c.text).where(side.c.text != "") for side in sides)).subquery("texts")
    return sa.select(_digest(texts.c.text), texts.c.text)


def _digest(text: sa.ColumnElement[Any]) -> sa.Label[Any]:
    return sa.cast(sa.func.md5(text), sa.Uuid).label("text_digest")


def select_missing(workload: Workload, vectors: sa.Table) -> sa.Select[Any]:
    """text_digest and text of those that have no vector in the table: an anti-join."""
    texts = select_texts(workload).subquery("wanted")
    known = sa.select(vectors.c.text_digest).where(vectors.c.text_digest == texts.c.text_digest)
    return sa.select(texts.c.text_digest, texts.c.text).where(~known.exists())


def count_texts(session: Session, texts: sa.Select[Any]) -> int:
    """How many texts a select gives."""
    return int(session.scalar(sa.select(sa.func.count()).select_from(texts.subquery())))


def read_texts(session: Session, missing: sa.Select[Any]) -> Iterator[tuple[uuid.UUID, str]]:
    """The texts with their digests, in the order of these, streamed."""
    ordered = missing.order_by("text_digest")
    for part in session.stream(ordered, rows=8_192):
        for digest, text in zip(part["text_digest"].to_pylist(), part["text"].to_pylist(), strict=True):
            yield uuid.UUID(str(digest)), text


def write_vectors(database: Database, vectors: sa.Table, batch: EncodedBatch[uuid.UUID]) -> None:
    """Store one batch: one transaction."""
    dimensions = batch.vectors.shape[1]
    embedding = pa.FixedSizeListArray.from_arrays(pa.array(batch.vectors.ravel()), dimensions)
    rows = pa.table({"text_digest": pa.array([str(key) for key in batch.keys]), "embedding": embedding})
    with database.begin() as session:
        session.insert(vectors, rows)


def fetch_documents(
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


def fetch_queries(session: Session, workload: Workload, vectors: sa.Table) -> tuple[list[int], Vectors]:
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
