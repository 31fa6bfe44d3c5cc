"""Lucene's BM25, exact, for thousands of queries at once."""
