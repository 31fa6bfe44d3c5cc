-- The test split: 1 is a paper whose abstract supports or contradicts the claim.
SELECT
    judged_papers.query_id,
    judged_papers.paper_id,
    judged_papers.grade
FROM judged_papers
WHERE judged_papers.corpus = 'scifact' AND judged_papers.split = 'test'
