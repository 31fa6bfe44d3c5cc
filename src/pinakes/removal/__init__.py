"""What is taken out: runs, corpora, benchmarks with all that hangs on them, and what nothing refers to."""
