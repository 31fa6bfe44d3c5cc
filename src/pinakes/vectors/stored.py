"""The rows of `encoders` and the tables of vectors: which texts still need one, writing, reading."""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Database, Session
from pinakes.errors import IndexingError
from pinakes.indexers.encoder.batches import EncodedBatch
from pinakes.indexers.encoder.encoder import Encoder
from pinakes.queries.relations import select_candidate_texts, select_queries
from pinakes.schema import encoders, next_id, vectors_table
from pinakes.workload.workload import Workload

Vectors = NDArray[np.float32]

BLOCK_ROWS: Final = 16_384
SAMPLE_TEXTS: Final = 64

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


def select_workload_texts(workload: Workload) -> sa.Select[Any]:
    """text_digest and text of every distinct, non-empty text of a workload's queries and candidates."""
    return select_distinct_texts(
        select_queries(workload.benchmark, workload.query_template),
        select_candidate_texts(workload.benchmark, workload.paper_template),
    )


def select_distinct_texts(*selects: sa.Select[Any]) -> sa.Select[Any]:
    """text_digest and text of every distinct, non-empty `text` that the selects give."""
    sides = [select.order_by(None).subquery() for select in selects]
    texts = sa.union_all(*(sa.select(side.c.text).where(side.c.text != "") for side in sides))
    distinct = sa.select(texts.subquery("all_texts").c.text).distinct().subquery("texts")
    return sa.select(_digest(distinct.c.text), distinct.c.text)


def _digest(text: sa.ColumnElement[Any]) -> sa.Label[Any]:
    return sa.cast(sa.func.md5(text), sa.Uuid).label("text_digest")


def select_missing(texts: sa.Select[Any], vectors: sa.Table) -> sa.Select[Any]:
    """text_digest and text of those that have no vector in the table: an anti-join."""
    wanted = texts.subquery("wanted")
    known = sa.select(vectors.c.text_digest).where(vectors.c.text_digest == wanted.c.text_digest)
    return sa.select(wanted.c.text_digest, wanted.c.text).where(~known.exists())


def count_texts(session: Session, texts: sa.Select[Any]) -> int:
    """How many texts a select gives."""
    return int(session.scalar(sa.select(sa.func.count()).select_from(texts.subquery())))


def read_texts(session: Session, missing: sa.Select[Any]) -> Iterator[tuple[uuid.UUID, str]]:
    """The texts with their digests, in the order of these, streamed."""
    ordered = missing.order_by("text_digest")
    for part in session.stream(ordered, rows=8_192):
        for digest, text in zip(part["text_digest"].to_pylist(), part["text"].to_pylist(), strict=True):
            yield uuid.UUID(str(digest)), text


def read_sample(session: Session, missing: sa.Select[Any]) -> list[str]:
    """A few of the texts, those with the smallest digests: the same whatever was encoded before."""
    ordered = missing.order_by("text_digest").limit(SAMPLE_TEXTS)
    return [str(row["text"]) for row in session.rows(ordered)]


def store_precision(database: Database, name: str, error: float) -> None:
    """Keep how far an encoder's vectors lie from float32's, the largest that was seen."""
    chosen = encoders.c.name == name
    larger = sa.func.greatest(sa.func.coalesce(encoders.c.max_cosine_error, 0.0), error)
    with database.begin() as session:
        session.execute(sa.update(encoders).where(chosen).values(max_cosine_error=larger))


def write_vectors(database: Database, vectors: sa.Table, batch: EncodedBatch[uuid.UUID]) -> None:
    """Store one batch: one transaction."""
    dimensions = batch.vectors.shape[1]
    embedding = pa.FixedSizeListArray.from_arrays(pa.array(batch.vectors.ravel()), dimensions)
    rows = pa.table({"text_digest": pa.array([str(key) for key in batch.keys]), "embedding": embedding})
    with database.begin() as session:
        session.insert(vectors, rows)


def stream_documents(
    session: Session, texts: sa.Select[Any], tables: Sequence[sa.Table]
) -> Iterator[tuple[NDArray[np.int64], Vectors]]:
    """Blocks of paper ids (n,) and vectors (n, d) of the papers of `texts` (paper_id, text) that have one.

    With several tables a paper's vector is the mean of its vectors in each. In no order: sorting millions of
    vectors would cost more than comparing them. Until it is exhausted the session serves nothing else.
    """
    of_text = texts.order_by(None).subquery("texts")
    query = _join_vectors(of_text, of_text.c.paper_id, tables)
    for part in session.stream(query, rows=BLOCK_ROWS):
        yield part["paper_id"].to_numpy().astype(np.int64), _mean_vectors(part, len(tables))


def fetch_queries(
    session: Session, workload: Workload, tables: Sequence[sa.Table]
) -> tuple[list[int], Vectors]:
    """Positions in `workload.query_ids` of the queries that have a vector, ascending, and the vectors."""
    texts = select_queries(workload.benchmark, workload.query_template).order_by(None).subquery("texts")
    found = session.fetch_arrow(_join_vectors(texts, texts.c.query_id, tables))
    position = {query_id: number for number, query_id in enumerate(workload.query_ids)}
    positions = np.array([position[query_id] for query_id in found["query_id"].to_pylist()], dtype=np.int64)
    order = np.argsort(positions)
    return positions[order].tolist(), _mean_vectors(found, len(tables))[order]


def fetch_distinct_queries(
    session: Session, workload: Workload, tables: Sequence[sa.Table]
) -> tuple[dict[str, int], Vectors]:
    """The vectors of the distinct, non-empty texts of the queries, and which row each text's is."""
    requested = (
        select_queries(workload.benchmark, workload.query_template).order_by(None).subquery("requested")
    )
    first = sa.func.min(requested.c.query_id).label("query_id")
    texts = sa.select(first, requested.c.text).group_by(requested.c.text).subquery("texts")
    found = session.fetch_arrow(_join_vectors(texts, texts.c.query_id, tables))
    said = dict(zip(workload.query_ids, workload.query_texts, strict=True))
    rows = {said[query_id]: row for row, query_id in enumerate(found["query_id"].to_pylist())}
    return rows, _mean_vectors(found, len(tables))


def _join_vectors(
    texts: sa.Subquery, key: sa.ColumnElement[Any], tables: Sequence[sa.Table]
) -> sa.Select[Any]:
    aliases = [table.alias(f"vectors_{number}") for number, table in enumerate(tables)]
    source: Any = texts
    for alias in aliases:
        source = source.join(alias, alias.c.text_digest == _digest(texts.c.text).element)
    columns = [alias.c.embedding.label(f"embedding_{number}") for number, alias in enumerate(aliases)]
    return sa.select(key, *columns).select_from(source).where(texts.c.text != "")


def _mean_vectors(part: pa.Table, count: int) -> Vectors:
    matrices = [_to_matrix(part[f"embedding_{number}"]) for number in range(count)]
    return matrices[0] if count == 1 else mean_vectors(matrices)


def mean_vectors(matrices: Sequence[Vectors]) -> Vectors:
    """The mean of vectors of several encoders, row by row, added in float64 in the order given.

    >>> mean_vectors([np.float32([[1, 2]]), np.float32([[3, 6]])])
    array([[2., 4.]], dtype=float32)
    """
    total = np.zeros(matrices[0].shape, dtype=np.float64)
    for matrix in matrices:
        total += matrix
    mean: Vectors = (total / len(matrices)).astype(np.float32)
    return mean


def _to_matrix(column: pa.ChunkedArray) -> Vectors:
    lists = column.combine_chunks()
    width = column.type.list_size
    values = lists.flatten().to_numpy(zero_copy_only=False).astype(np.float32, copy=False)
    matrix: Vectors = values.reshape(len(lists), width)
    return matrix
