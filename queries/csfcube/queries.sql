-- A query is a facet of a paper: 50 of them, over 34 papers.
SELECT
    benchmark_queries.query_id,
    benchmark_queries.paper_id,
    benchmark_queries.text,
    benchmark_queries.facet,
    benchmark_queries.fold
FROM benchmark_queries
INNER JOIN corpora ON benchmark_queries.corpus_id = corpora.corpus_id
WHERE corpora.name = 'csfcube'
