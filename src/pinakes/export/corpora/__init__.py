"""Corpora as partitioned Parquet: written with a manifest, read in place by DuckDB, taken into a database."""
