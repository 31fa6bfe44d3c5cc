"""Approximate indexes over stored vectors, and searches through them: Faiss beside the database, or pgvector.

Leaves out: making vectors, and searches without an index over many queries (`pinakes.indexers.exact`).
"""

from pinakes.pipeline.vector_indexes.base import VectorIndexSummary
from pinakes.pipeline.vector_indexes.faiss_side import build_faiss_index, open_faiss_index, search_faiss
from pinakes.pipeline.vector_indexes.pgvector import (
    PgvectorState,
    build_pgvector,
    describe_pgvector,
)
from pinakes.pipeline.vector_indexes.sql_search import SqlSearch, open_sql_search, search_by_sql

__all__ = [
    "PgvectorState",
    "SqlSearch",
    "VectorIndexSummary",
    "build_faiss_index",
    "build_pgvector",
    "describe_pgvector",
    "open_faiss_index",
    "open_sql_search",
    "search_by_sql",
    "search_faiss",
]
