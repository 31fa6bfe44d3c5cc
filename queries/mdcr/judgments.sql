-- A candidate that the query cites is relevant, every other one is not.
SELECT
    judged_papers.query_id,
    judged_papers.paper_id,
    judged_papers.grade
FROM judged_papers
WHERE judged_papers.corpus = 'mdcr'
    AND judged_papers.assessor = 'published'
