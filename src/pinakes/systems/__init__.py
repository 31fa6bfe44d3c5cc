"""Systems that rank: lexical ones over side indexes, dense ones over stored vectors, fusions of runs."""
