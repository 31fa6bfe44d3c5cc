"""Queries and candidate pools drawn from a corpus."""
