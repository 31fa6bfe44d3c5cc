"""A benchmark's own tables and figures, besides those of runs: gathered, as tables, as plots."""
