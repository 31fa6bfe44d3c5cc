-- The adjudicated grades, 0 to 3, that the candidates have for the facet of CSFCube's query.
SELECT
    queries.query_id,
    judged_papers.paper_id,
    judged_papers.grade
FROM csfcube_sentences.queries AS queries
INNER JOIN judged_papers ON queries.csfcube_query_id = judged_papers.query_id
WHERE judged_papers.corpus = 'csfcube'
    AND judged_papers.assessor = 'adjudicated'
    AND judged_papers.paper_id <> queries.paper_id
