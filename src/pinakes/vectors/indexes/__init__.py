"""Approximate indexes over stored vectors and searches through them: Faiss or pgvector."""
