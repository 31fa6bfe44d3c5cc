-- 2: the same topic and aspect; 1: the same topic; 0: a topic close by.
SELECT
    judged_papers.query_id,
    judged_papers.paper_id,
    judged_papers.grade
FROM judged_papers
WHERE judged_papers.corpus = 'synthetic'
