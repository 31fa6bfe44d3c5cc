-- A paper; those that are cited together with it are to be found.
SELECT
    benchmark_queries.query_id,
    benchmark_queries.paper_id,
    benchmark_queries.text
FROM benchmark_queries
INNER JOIN chosen_corpora ON benchmark_queries.corpus_id = chosen_corpora.corpus_id
WHERE chosen_corpora.benchmark = 'scirepeval_scidocs_cocite'
    AND benchmark_queries.field IN ('scidocs_cocite', 'cocite')
    AND EXISTS (
        SELECT 1
        FROM judged_papers
        WHERE judged_papers.corpus_id = benchmark_queries.corpus_id
            AND judged_papers.query_id = benchmark_queries.query_id
            AND judged_papers.split IN ('test', 'all')
    )
