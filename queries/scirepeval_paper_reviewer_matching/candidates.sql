-- The reviewers that the hard list judges for a submission: whom the published code ranks.
SELECT
    judged_papers.query_id,
    judged_papers.paper_id
FROM judged_papers
INNER JOIN benchmark_queries
    ON judged_papers.corpus_id = benchmark_queries.corpus_id
    AND judged_papers.query_id = benchmark_queries.query_id
INNER JOIN chosen_corpora
    ON benchmark_queries.corpus_id = chosen_corpora.corpus_id
    AND chosen_corpora.benchmark = 'scirepeval_paper_reviewer_matching'
WHERE benchmark_queries.field = 'paper_reviewer_matching'
    AND judged_papers.assessor = 'hard'
