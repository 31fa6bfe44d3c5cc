"""The HNSW index of an encoder's vectors in Postgres: built after the load, its recall measured and kept.

The index is in step with the table whatever is written later; its recall is of the rows it was measured on.
"""

import time
from dataclasses import asdict
from typing import Any, Final

import numpy as np
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.database.pgvector_index import HnswSpec, create_hnsw, index_bytes, index_name
from pinakes.database.vector_sql import nearest_hnsw, stream_table, use_hnsw
from pinakes.errors import IndexingError
from pinakes.indexers.exact.scores import Vectors, score_pairs
from pinakes.indexers.exact.search import search_exact
from pinakes.indexers.names import Distance
from pinakes.indexers.recall import RECALL_DEPTHS, mean_recall
from pinakes.progress import Progress, Silent
from pinakes.schema import vectors_table
from pinakes.vectors.indexes.base import PhaseProgress, VectorIndexSummary, summarise
from pinakes.vectors.side_index import find_row, identify, store_row
from pinakes.vectors.stored import StoredEncoder

EF_SEARCH: Final = 128
RECALL_QUERIES: Final = 100


def build_pgvector(
    database: Database,
    encoder: StoredEncoder,
    *,
    m: int = 16,
    ef_construction: int = 64,
    distance: Distance = "cosine",
    kind: str = "vector",
    memory: str = "1GB",
    workers: int = 2,
    progress: Progress | None = None,
) -> VectorIndexSummary:
    """The HNSW index over all vectors of an encoder; one of the same settings is not built again.

    Killed at any moment, a rerun completes: the index is one transaction, the row with its recall another.
    `kind` halfvec keeps half the bytes, and takes up to 4,000 dimensions.

    Raises:
        IndexingError: the database is DuckDB, there is no vector, or the settings do not fit.
    """
    require_postgres(database)
    started = time.monotonic()
    table = vectors_table(encoder.name, encoder.dimensions)
    with database.read() as session:
        if not session.scalar(sa.select(sa.func.count()).select_from(table)):
            raise IndexingError(f"there is no vector of {encoder.name} to index; encode the corpus first")
    spec = HnswSpec(kind, distance, encoder.dimensions, m, ef_construction)
    report = PhaseProgress(progress or Silent(), f"index {encoder.name} in Postgres")
    try:
        built = create_hnsw(database, table, spec, memory=memory, workers=workers, progress=report)
        with database.read() as session:
            known = find_row(session, _identity(encoder))
        if not built and known:
            return summarise(known, built=False, elapsed_s=time.monotonic() - started)
        values = _measure(database, encoder, table, spec, report)
    finally:
        report.finish()
    with database.begin() as session:
        row = store_row(session, _identity(encoder), values)
    return summarise(row, built=True, elapsed_s=time.monotonic() - started)


def require_postgres(database: Database) -> None:
    """Raise IndexingError on DuckDB, which has no pgvector."""
    if database.name != "postgresql":
        raise IndexingError(
            "pgvector is an extension of Postgres, and this database is DuckDB; search exactly, or build an "
            "index beside it with `pinakes index faiss`"
        )


def _identity(encoder: StoredEncoder) -> dict[str, str]:
    return identify("pgvector_hnsw", f"vectors:{encoder.name}", encoder=encoder.name)


def _measure(
    database: Database, encoder: StoredEncoder, table: sa.Table, spec: HnswSpec, report: PhaseProgress
) -> dict[str, Any]:
    """The values of the index's row: what it was built from, and its recall over sampled vectors."""
    with database.read() as session:
        sampled = (
            sa.select(table.c.text_digest)
            .order_by(sa.func.md5(sa.cast(table.c.text_digest, sa.Text)))
            .limit(RECALL_QUERIES)
        )
        own = [row["text_digest"] for row in session.rows(sampled)]
        report("measure recall", 0, len(own))
        queries, truth, digest, rows = _search_all(session, table, own, spec.distance)
        depth = min(rows, max(RECALL_DEPTHS) + 1)
        use_hnsw(session, EF_SEARCH, 20_000)
        found = []
        for number, query in enumerate(queries):
            keys, vectors = nearest_hnsw(session, table, query, depth, spec, in_pool=False)
            pairs = np.column_stack((np.zeros(len(keys), np.int64), np.arange(len(keys))))
            scores = score_pairs(query[None, :], vectors, pairs, spec.distance)  # type: ignore[arg-type]
            kept = np.array([key != own[number] for key in keys], dtype=bool)
            found.append((np.where(kept, -1, truth[2][number]), scores))
            report("measure recall", number + 1, len(own))
        order = [np.argsort(-scores, kind="stable") for _, scores in found]
        found = [(hits[by], scores[by]) for (hits, scores), by in zip(found, order, strict=True)]
        size = index_bytes(session, table)
    recall = {limit: mean_recall(truth[2], truth[:2], found, limit) for limit in RECALL_DEPTHS}
    search = {"ef_search": EF_SEARCH, "recall_queries": len(own), "index_bytes": size}
    return {
        "parameters": {**asdict(spec), **search},
        "row_count": rows,
        "content_digest": digest,
        "path": index_name(table),
        "recall": recall[10],
        "recall_100": recall[100],
    }


def _search_all(
    session: Session, table: sa.Table, own: list[Any], distance: str
) -> tuple[Vectors, tuple[Any, Any, Any], str, int]:
    """The vectors of the digests `own`, their exact neighbours (rows, scores, own rows), digest, count."""
    wanted = {key.bytes: number for number, key in enumerate(own)}
    queries = np.empty((len(own), table.info["dimensions"]), np.float32)
    own_rows = np.zeros(len(own), np.int64)
    rows, total = 0, np.zeros(2, np.uint64)
    for digests, vectors in stream_table(session, table):
        # Added up, since the rows come in no order: the sum of the digests, each as two numbers.
        total += digests.view(np.uint64).reshape(-1, 2).sum(axis=0, dtype=np.uint64)
        for place, key in enumerate(digests.tolist()):
            if (number := wanted.get(key)) is not None:
                queries[number], own_rows[number] = vectors[place], rows + place
        rows += len(vectors)
    depth = min(rows, max(RECALL_DEPTHS) + 1)
    blocks = (vectors for _, vectors in stream_table(session, table))
    best, scores = search_exact(queries, blocks, depth, distance)  # type: ignore[arg-type]
    return queries, (best, scores, own_rows), f"{rows}:{total.tobytes().hex()}", rows
