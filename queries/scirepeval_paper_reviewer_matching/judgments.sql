-- 2 where the hard list says that a reviewer fits, 1 where the soft list alone does. Who fits by the hard list
-- fits by the soft one, whose threshold is lower.
SELECT
    judged_papers.query_id,
    judged_papers.paper_id,
    MAX(
        CASE
            WHEN judged_papers.grade < 1 THEN 0
            WHEN judged_papers.assessor = 'hard' THEN 2
            ELSE 1
        END
    ) AS grade
FROM judged_papers
INNER JOIN benchmark_queries
    ON judged_papers.corpus_id = benchmark_queries.corpus_id
    AND judged_papers.query_id = benchmark_queries.query_id
INNER JOIN chosen_corpora
    ON benchmark_queries.corpus_id = chosen_corpora.corpus_id
    AND chosen_corpora.benchmark = 'scirepeval_paper_reviewer_matching'
WHERE benchmark_queries.field = 'paper_reviewer_matching'
GROUP BY judged_papers.query_id, judged_papers.paper_id
