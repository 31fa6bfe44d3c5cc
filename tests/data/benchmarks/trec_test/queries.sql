-- The topics that the qrels judge; none has a text.
SELECT benchmark_queries.query_id, benchmark_queries.paper_id, benchmark_queries.text
FROM benchmark_queries
INNER JOIN corpora ON benchmark_queries.corpus_id = corpora.corpus_id
WHERE corpora.name = 'trec_test'
