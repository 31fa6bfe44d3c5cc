-- The papers that a benchmark's training queries judge, and, where all its queries have one pool, what else is in it.

-- name: make_graded
CREATE {scratch} TABLE drawing_graded AS
SELECT drawing_queries.number, judged_papers.paper_id, MAX(judged_papers.grade) AS grade
FROM drawing_queries
INNER JOIN judged_papers
    ON drawing_queries.corpus_id = judged_papers.corpus_id AND drawing_queries.query_id = judged_papers.query_id
WHERE judged_papers.split = 'train'
GROUP BY drawing_queries.number, judged_papers.paper_id

-- name: make_related
-- Whatever a split judges for a query is not unjudged.
CREATE {scratch} TABLE drawing_related AS
SELECT DISTINCT drawing_queries.number, judged_papers.paper_id
FROM drawing_queries
INNER JOIN judged_papers
    ON drawing_queries.corpus_id = judged_papers.corpus_id AND drawing_queries.query_id = judged_papers.query_id

-- name: count_unjudged
-- Drawn triplets whose further paper no split judges for the query.
SELECT COUNT(*) AS items
FROM drawing_drawn
INNER JOIN drawing_queries ON drawing_drawn.query_key = drawing_queries.query_key
LEFT JOIN drawing_related
    ON drawing_queries.number = drawing_related.number AND drawing_drawn.negative = drawing_related.paper_id
WHERE drawing_related.paper_id IS NULL
