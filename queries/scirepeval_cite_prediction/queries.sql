-- A paper, whose cited papers are to be told from others.
WITH chosen AS (
    SELECT chosen_corpora.corpus_id
    FROM chosen_corpora
    WHERE chosen_corpora.benchmark = 'scirepeval_cite_prediction'
),

splits AS (
    SELECT judged_papers.split
    FROM judged_papers
    INNER JOIN benchmark_queries
        ON judged_papers.corpus_id = benchmark_queries.corpus_id AND judged_papers.query_id = benchmark_queries.query_id
    WHERE judged_papers.corpus_id IN (SELECT chosen.corpus_id FROM chosen)
        AND (benchmark_queries.field = 'cite_prediction' OR benchmark_queries.field IS NULL)
    GROUP BY judged_papers.split
    ORDER BY CASE judged_papers.split WHEN 'test' THEN 1 WHEN 'dev' THEN 2 WHEN 'all' THEN 3 ELSE 4 END
    LIMIT 1
)

SELECT
    benchmark_queries.query_id,
    benchmark_queries.paper_id,
    benchmark_queries.text
FROM benchmark_queries
WHERE benchmark_queries.corpus_id IN (SELECT chosen.corpus_id FROM chosen)
    AND (benchmark_queries.field = 'cite_prediction' OR benchmark_queries.field IS NULL)
    AND EXISTS (
        SELECT 1
        FROM judged_papers
        WHERE judged_papers.corpus_id = benchmark_queries.corpus_id
            AND judged_papers.query_id = benchmark_queries.query_id
            AND judged_papers.split IN (SELECT splits.split FROM splits)
    )
