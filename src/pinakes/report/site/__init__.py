"""The reports of many benchmarks as a small static site: pages of benchmarks, queries and pairs of systems.

It goes one way: `gather` reads what the pages of a benchmark share, `queries` streams its queries;
`query_page`, `benchmark_pages` and `top_pages` make pages of them in one `layout`; `write` puts these into a
`folder`, whose `record` knows the files that it made. `keys` says where nothing changed.
"""
