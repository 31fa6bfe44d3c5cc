-- Cranfield's codes run from 1 (a complete answer) to 4 (of minimum interest); grades here run the other
-- way, so that more is better. Each question has one pair with the code -1, which the release lists as
-- relevant without saying how much: it gets the least grade.
SELECT
    judged_papers.query_id,
    judged_papers.paper_id,
    CASE judged_papers.grade WHEN 1 THEN 4 WHEN 2 THEN 3 WHEN 3 THEN 2 ELSE 1 END AS grade
FROM judged_papers
WHERE judged_papers.corpus = 'cranfield'
