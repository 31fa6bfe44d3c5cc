-- The adjudicated grades, 0 to 3, of every candidate.
SELECT
    judged_papers.query_id,
    judged_papers.paper_id,
    judged_papers.grade
FROM judged_papers
INNER JOIN benchmark_queries
    ON judged_papers.corpus_id = benchmark_queries.corpus_id
    AND judged_papers.query_id = benchmark_queries.query_id
WHERE judged_papers.corpus = 'csfcube'
    AND judged_papers.assessor = 'adjudicated'
    AND judged_papers.paper_id <> benchmark_queries.paper_id
