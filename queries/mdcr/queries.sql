-- A query is a paper, asked within a field; the fold is that of the file it came in.
SELECT
    benchmark_queries.query_id,
    benchmark_queries.paper_id,
    benchmark_queries.text,
    benchmark_queries.field,
    benchmark_queries.fold
FROM benchmark_queries
INNER JOIN corpora ON benchmark_queries.corpus_id = corpora.corpus_id
WHERE corpora.name = 'mdcr'
