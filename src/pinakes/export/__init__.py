"""What the database holds, for other programs: tables and queries, corpora and benchmarks."""
