-- A query's pool: the papers of its triplets.
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

SELECT DISTINCT
    judged_papers.query_id,
    judged_papers.paper_id,
    CAST(NULL AS TEXT) AS source
FROM judged_papers
INNER JOIN scirepeval_cite_prediction.queries AS asked ON judged_papers.query_id = asked.query_id
WHERE judged_papers.corpus_id IN (SELECT chosen.corpus_id FROM chosen)
    AND judged_papers.split IN (SELECT splits.split FROM splits)
