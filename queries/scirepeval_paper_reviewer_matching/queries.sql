-- The submissions that somebody judged reviewers for.
SELECT
    benchmark_queries.query_id,
    benchmark_queries.paper_id
FROM benchmark_queries
INNER JOIN chosen_corpora
    ON benchmark_queries.corpus_id = chosen_corpora.corpus_id
    AND chosen_corpora.benchmark = 'scirepeval_paper_reviewer_matching'
WHERE benchmark_queries.field = 'paper_reviewer_matching'
    AND EXISTS (
        SELECT 1
        FROM judged_papers
        WHERE judged_papers.corpus_id = benchmark_queries.corpus_id
            AND judged_papers.query_id = benchmark_queries.query_id
    )
