"""What is removed: runs, corpora, benchmarks with all that refers to them, and what nothing refers to."""
