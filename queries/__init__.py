"""Benchmarks: one folder each, with `benchmark.toml`, `queries.sql`, `candidates.sql`, `judgments.sql`.

The three SQL files are the bodies of the views `<name>.queries`, `<name>.candidates`, `<name>.judgments`,
one text for both databases.
"""
