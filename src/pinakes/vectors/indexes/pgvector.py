"""The HNSW index of an encoder's vectors in Postgres: built after the load, its recall measured and kept.

The index is in step with the table whatever is written later. Its recall is that of the search that users
make, over all texts of the encoder: requested again after texts came or went, the index stays as it is and is
measured again.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final, cast

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.database.pgvector_index import HnswSpec, create_hnsw, index_bytes, index_name
from pinakes.database.vector_sql import allow_temporary_tables
from pinakes.errors import IndexingError
from pinakes.indexers.exact.scores import Vectors
from pinakes.indexers.exact.search import search_exact
from pinakes.indexers.lexical import by_paper_id
from pinakes.indexers.names import Distance
from pinakes.indexers.recall import RECALL_DEPTHS, measure_recall
from pinakes.matrices import to_matrix
from pinakes.progress import Progress, Silent
from pinakes.schema import vectors_table
from pinakes.vectors.indexes.base import PhaseProgress, VectorIndexSummary, require_postgres, summarise
from pinakes.vectors.indexes.sql_search import EF_SEARCH, search_every_text, select_numbered_texts
from pinakes.vectors.side_index import find_row, identify, store_row
from pinakes.vectors.stored import StoredEncoder

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
            # Killed before its row was stored, a new index stands beside the row of the one before.
            is_known = not built and known is not None and _is_of(known, spec)
            if known and is_known and _digest_texts(session, table)[1] == known["content_digest"]:
                return summarise(known, built=False, elapsed_s=time.monotonic() - started)
        values = _measure(database, table, spec, workers, report)
    finally:
        report.finish()
    with database.begin() as session:
        row = store_row(session, _identity(encoder), values)
    return summarise(row, built=not is_known, elapsed_s=time.monotonic() - started)


def _identity(encoder: StoredEncoder) -> dict[str, str]:
    return identify("pgvector_hnsw", f"vectors:{encoder.name}", encoder=encoder.name)


def _is_of(row: Mapping[str, Any], spec: HnswSpec) -> bool:
    stored = orjson.loads(row["parameters"])
    return all(stored.get(name) == value for name, value in asdict(spec).items())


def _digest_texts(session: Session, table: sa.Table) -> tuple[int, str]:
    """The number of texts that have a vector, and a digest of them in no order: Postgres' hashes added up."""
    hashes = sa.cast(sa.func.uuid_hash_extended(table.c.text_digest, 0), sa.Numeric)
    row = session.rows(sa.select(sa.func.count().label("rows"), sa.func.sum(hashes).label("total")))[0]
    return int(row["rows"]), f"{row['rows']}:{row['total']}"


def _measure(
    database: Database, table: sa.Table, spec: HnswSpec, workers: int, report: PhaseProgress
) -> dict[str, Any]:
    """The values of the index's row: what it was built from, and its recall over sampled vectors."""
    numbered = select_numbered_texts(table)
    with database.read() as session:
        allow_temporary_tables(session)
        sampled = (
            sa.select(numbered)
            .order_by(sa.func.md5(sa.cast(numbered.c.text_digest, sa.Text)))
            .limit(RECALL_QUERIES)
        )
        own = session.rows(sampled)
        report("measure recall", 0, len(own))
        distance = cast(Distance, spec.distance)
        queries, exact = _rank_exactly(session, table, [row["text_digest"] for row in own], distance)
        search = search_every_text(session, table, spec)
        recall = measure_recall(
            np.array([row["paper_id"] for row in own], dtype=np.int64),
            exact,
            lambda k: search.search(queries, k, by_paper_id, ef_search=EF_SEARCH, workers=workers).rankings,
        )
        report("measure recall", len(own), len(own))
        measured = {"ef_search": EF_SEARCH, "recall_queries": len(own)}
        rows, digest = _digest_texts(session, table)
        return {
            "parameters": {**asdict(spec), **measured, "index_bytes": index_bytes(session, table)},
            "row_count": rows,
            "content_digest": digest,
            "path": index_name(table),
            "recall_10": recall[10],
            "recall_100": recall[100],
        }


def _rank_exactly(
    session: Session, table: sa.Table, own: list[Any], distance: Distance
) -> tuple[Vectors, list[Vectors]]:
    """The vectors (q, d) of the digests `own`, and the best scores of each without itself, descending."""
    requested = pa.array(list(map(str, own)), pa.string())
    columns = sa.select(table.c.text_digest, table.c.embedding)
    found = session.fetch_arrow(columns.where(table.c.text_digest.in_(own)))
    queries = np.empty((len(own), table.info["dimensions"]), np.float32)
    queries[pc.index_in(found["text_digest"], value_set=requested).to_numpy()] = to_matrix(found["embedding"])
    own_rows = np.full(len(own), -1, np.int64)

    def read_blocks() -> Iterator[Vectors]:
        rows = 0
        for part in session.stream_vectors(columns):
            places = pc.index_in(requested, value_set=part["text_digest"]).fill_null(-1).to_numpy()
            is_here = places >= 0
            own_rows[is_here] = rows + places[is_here]
            rows += part.num_rows
            yield to_matrix(part["embedding"])

    # One deeper than is measured, since each finds itself.
    best, scores = search_exact(queries, read_blocks(), max(RECALL_DEPTHS) + 1, distance)
    return queries, [one[found != row] for row, found, one in zip(own_rows, best, scores, strict=True)]
