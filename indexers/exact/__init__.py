"""Exact vector search in one pass."""
