-- Every generated text query that has judgments, with the split that they belong to.
SELECT
    benchmark_queries.query_id,
    benchmark_queries.paper_id,
    benchmark_queries.text,
    benchmark_queries.field,
    splits.split
FROM benchmark_queries
INNER JOIN (
    SELECT judged_papers.corpus_id, judged_papers.query_id, MIN(judged_papers.split) AS split
    FROM judged_papers
    WHERE judged_papers.corpus = 'synthetic'
    GROUP BY judged_papers.corpus_id, judged_papers.query_id
) AS splits
    ON benchmark_queries.corpus_id = splits.corpus_id AND benchmark_queries.query_id = splits.query_id
