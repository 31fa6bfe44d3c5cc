"""What a system ranks: the queries and candidates of a benchmark, or a corpus, with their texts."""
