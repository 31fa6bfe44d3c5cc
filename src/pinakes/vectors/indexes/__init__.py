"""Approximate indexes over stored vectors and searches through them: Faiss or pgvector."""

from pinakes.vectors.indexes.base import VectorIndexSummary
from pinakes.vectors.indexes.faiss_side import build_faiss_index, open_faiss_index, search_faiss
from pinakes.vectors.indexes.pgvector import (
    PgvectorState,
    build_pgvector,
    describe_pgvector,
)
from pinakes.vectors.indexes.sql_search import SqlSearch, open_sql_search, search_by_sql

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
