"""Vectors without a model: an encoder's row and its table, filled with numbers made from the texts' digests.

The same text has the same vector on both databases. Some are alike, some differ in sign alone, one is zero.
"""

import hashlib
from typing import Any

import numpy as np
import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.schema import encoders, next_id, vectors_table
from pinakes.vectors.indexes.base import select_text_digests
from pinakes.vectors.stored import StoredEncoder
from pinakes.workload.scope import CorpusScope

DIMENSIONS = 16
NAME = "planted_fp32"


def plant_vectors(
    database: Database, scope: CorpusScope, *, dimensions: int = DIMENSIONS, others: int = 0
) -> StoredEncoder:
    """An encoder that has a vector for every text of the corpus, and for `others` texts besides."""
    with database.begin() as session:
        digests = sorted(set(map(str, _texts(session, scope))))
        digests += [str(digest_of(f"other {number}")) for number in range(others)]
        row: dict[str, Any] = {
            "encoder_id": next_id(session, encoders.c.encoder_id),
            "name": NAME,
            "model": "planted",
            "revision": "1",
            "weights_digest": "w",
            "dimensions": dimensions,
            "pooling": "mean",
            "max_tokens": 32,
            "normalized": False,
            "precision": "fp32",
        }
        session.execute(sa.insert(encoders).values(**row))
        table = vectors_table(NAME, dimensions)
        table.create(session.connection)
        matrix = np.stack([make_vector(digest, dimensions) for digest in digests])
        matrix[0] = 0
        store_vectors(session, digests, matrix)
    return StoredEncoder(row["encoder_id"], NAME, dimensions, "1")


def store_vectors(session: Session, digests: list[str], matrix: np.ndarray[Any, Any]) -> None:
    """Add the vectors (n, d) of the texts with these digests."""
    dimensions = matrix.shape[1]
    values = pa.array(matrix.astype(np.float32).ravel())
    embedding = pa.FixedSizeListArray.from_arrays(values, dimensions)
    columns = {"text_digest": pa.array(digests), "embedding": embedding}
    session.insert(vectors_table(NAME, dimensions), pa.table(columns))


def make_vector(digest: str, dimensions: int = DIMENSIONS) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The vector of a text: one of 40 directions and, for two in three, a little of its own."""
    number = int(hashlib.md5(digest.encode()).hexdigest()[:12], 16)
    direction = np.random.default_rng(number % 40).standard_normal(dimensions)
    own = np.random.default_rng(number).standard_normal(dimensions) * (0.3 if number % 3 else 0.0)
    return (direction + own).astype(np.float32)


def make_queries(count: int, dimensions: int = DIMENSIONS) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Query vectors (count, dimensions) near to the planted ones."""
    return np.stack([make_vector(f"query {number}", dimensions) for number in range(count)])


def digest_of(text: str) -> str:
    """The digest of a text as the tables write it: MD5 as a UUID."""
    import uuid

    return str(uuid.UUID(hashlib.md5(text.encode()).hexdigest()))


def _texts(session: Any, scope: CorpusScope) -> list[Any]:
    found: list[Any] = session.fetch_arrow(select_text_digests(scope))["text_digest"].to_pylist()
    return found
