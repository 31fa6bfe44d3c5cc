"""Indexes and vectors made for a benchmark or a corpus."""
