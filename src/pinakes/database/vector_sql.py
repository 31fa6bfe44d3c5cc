"""Nearest vectors by SQL: each database's words for a distance, and for the settings of a search.

What SQL finds is a list of candidates: its float32 sums round in an order of their own, so the caller scores
them again.
"""

from typing import Any, Final

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database.core import Session
from pinakes.database.pgvector_index import HnswSpec

Vectors = NDArray[np.float32]

POOL_TABLE: Final = "pool_texts"
"""text_digest, text_number: the texts that may be found; made by the caller in the same transaction"""

_OPERATORS: Final = {"cosine": "<=>", "l2": "<->", "inner_product": "<#>"}
_FUNCTIONS: Final = {
    "cosine": "array_cosine_distance",
    "l2": "array_distance",
    "inner_product": "array_negative_inner_product",
}
MOST_EF_SEARCH: Final = 1000  # pgvector's limit


def nearest_exact(
    session: Session, table: sa.Table, query: Vectors, limit: int, distance: str, *, whole_table: bool
) -> tuple[list[int], Vectors, float | None]:
    """Numbers (m,) and vectors (m, d) of the pool's texts that a scan ranks best, and how far it came.

    The third is SQL's distance of the last row: what was not given is no nearer, as SQL rounds; None where
    everything was given. With `whole_table` all vectors are ranked first, by parallel workers on Postgres,
    and those outside the pool dropped: right where the pool is most of the table.
    """
    measured = _distance(session, "vectors.embedding", query, distance, None)
    # The cosine with a vector of zeros is not a number in SQL, and 0 with us.
    ranked = f"COALESCE(NULLIF({measured}, CAST('NaN' AS FLOAT8)), 1.0)"
    joined = f"INNER JOIN {POOL_TABLE} AS pool ON pool.text_digest = found.text_digest"
    inner = (
        f"SELECT vectors.text_digest, {_binary(session)} AS embedding, {ranked} AS distance "  # noqa: S608 (our names)
        f"FROM {table.name} AS vectors"
    )
    if not whole_table:
        inner += f" INNER JOIN {POOL_TABLE} AS chosen ON chosen.text_digest = vectors.text_digest"
    rows = session.rows(
        f"WITH found AS ({inner} ORDER BY distance, vectors.text_digest LIMIT :limit) "  # noqa: S608 (`inner` is made above)
        f"SELECT pool.text_number, found.embedding, found.distance, "
        "(SELECT MAX(distance) FROM found) AS reached, (SELECT COUNT(*) FROM found) AS given "
        f"FROM found {joined.replace('INNER', 'LEFT')} ORDER BY found.distance, pool.text_number",
        {"limit": limit},
    )
    reached = None if not rows or rows[0]["given"] < limit else float(rows[0]["reached"])
    kept = [row for row in rows if row["text_number"] is not None]
    return [row["text_number"] for row in kept], _to_matrix(kept, len(query)), reached


def nearest_hnsw(
    session: Session, table: sa.Table, query: Vectors, limit: int, spec: HnswSpec, *, in_pool: bool = True
) -> tuple[list[Any], Vectors]:
    """Numbers (m,) and vectors (m, d) of the pool's texts that the index finds; `use_hnsw` comes first.

    Without a pool it looks in the whole table, and gives text digests in place of numbers.
    """
    rows = session.rows(hnsw_statement(session, table, query, limit, spec, in_pool=in_pool))
    return [row["text_number" if in_pool else "text_digest"] for row in rows], _to_matrix(rows, len(query))


def hnsw_statement(
    session: Session, table: sa.Table, query: Vectors, limit: int, spec: HnswSpec, *, in_pool: bool
) -> str:
    """The query that walks the index; in the pool, the walk goes on until `limit` texts of it are found."""
    measured = _distance(session, spec.column("vectors.embedding"), query, spec.distance, spec)
    joined = f"INNER JOIN {POOL_TABLE} AS pool ON pool.text_digest = vectors.text_digest" if in_pool else ""
    key = "pool.text_number" if in_pool else "vectors.text_digest"
    return (
        f"SELECT {key}, {_binary(session)} AS embedding FROM {table.name} AS vectors {joined} "  # noqa: S608 (our names)
        f"ORDER BY {measured} LIMIT {int(limit)}"
    )


def use_exact(session: Session, workers: int) -> None:
    """Have this transaction scan sequentially, on Postgres with so many parallel workers."""
    _configure(
        session,
        {
            "enable_indexscan": "off",  # an HNSW index would answer ORDER BY … LIMIT approximately
            "max_parallel_workers_per_gather": str(workers),
            "min_parallel_table_scan_size": "0",  # long vectors lie beside the table, which then looks small
            "jit": "off",
        },
    )


def use_hnsw(session: Session, ef_search: int, most_tuples: int) -> None:
    """Have this transaction walk the index in strict order, on and on until it found enough.

    `most_tuples` bounds the walk; what it then lacks has to be looked for exactly.
    """
    _configure(
        session,
        {
            "hnsw.ef_search": str(min(MOST_EF_SEARCH, ef_search)),
            "hnsw.iterative_scan": "strict_order",
            "hnsw.max_scan_tuples": str(most_tuples),
            "hnsw.scan_mem_multiplier": "8",
            "enable_indexscan": "on",
            "enable_seqscan": "off",
            "enable_sort": "off",
            "enable_hashjoin": "off",
            "enable_mergejoin": "off",
            "jit": "off",
        },
    )


def allow_temporary_tables(session: Session) -> None:
    """Let a transaction that reads make tables of its own, also where the database was opened read-only.

    Postgres counts them as writing. To be called first; the transaction is rolled back at the end as ever.
    """
    if session.backend.name == "postgresql":
        session.execute("SET TRANSACTION READ WRITE")


def largest_length(session: Session, table: sa.Table) -> float:
    """The length of the longest vector of the table, as SQL rounds it."""
    vector = table.c.embedding
    length = (
        sa.func.vector_norm(vector)
        if session.backend.name == "postgresql"
        else sa.func.sqrt(sa.func.array_inner_product(vector, vector))
    )
    return float(session.scalar(sa.select(sa.func.max(length))) or 0.0)


def _configure(session: Session, settings: dict[str, str]) -> None:
    if session.backend.name != "postgresql":
        return
    for setting, value in settings.items():
        session.execute("SELECT set_config(:setting, :value, true)", {"setting": setting, "value": value})


def _distance(session: Session, column: str, query: Vectors, distance: str, spec: HnswSpec | None) -> str:
    numbers = ",".join(repr(float(value)) for value in query)
    if session.backend.name == "postgresql":
        kind = spec.kind if spec else "vector"
        return f"{column} {_OPERATORS[distance]} CAST('[{numbers}]' AS {kind}({len(query)}))"
    return f"{_FUNCTIONS[distance]}({column}, CAST([{numbers}] AS FLOAT[{len(query)}]))"


def _binary(session: Session) -> str:
    # Bytes: a vector as text is ten times slower to read.
    return "vector_send(vectors.embedding)" if session.backend.name == "postgresql" else "vectors.embedding"


def _to_matrix(rows: list[dict[str, Any]], dimensions: int) -> Vectors:
    matrix = np.empty((len(rows), dimensions), dtype=np.float32)
    for number, row in enumerate(rows):
        value = row["embedding"]
        matrix[number] = np.frombuffer(value, ">f4", offset=4) if isinstance(value, bytes) else value
    return matrix
