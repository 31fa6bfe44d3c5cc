-- The reviewers that the hard list judges for a submission: whom the published code ranks.
SELECT
    judged_papers.query_id,
    judged_papers.paper_id
FROM judged_papers
INNER JOIN benchmark_queries
    ON judged_papers.corpus_id = benchmark_queries.corpus_id
    AND judged_papers.query_id = benchmark_queries.query_id
WHERE judged_papers.corpus = 'scirepeval' AND benchmark_queries.field = 'paper_reviewer_matching'
    AND judged_papers.assessor = 'hard'
