-- The pool of CSFCube's query, whichever of its sentences are asked with; without the query's own paper, as
-- in csfcube.candidates.
SELECT
    queries.query_id,
    judged_papers.paper_id,
    STRING_AGG(pool_sources.source, ',' ORDER BY pool_sources.source) AS source
FROM csfcube_sentences.queries AS queries
INNER JOIN judged_papers ON queries.csfcube_query_id = judged_papers.query_id
LEFT JOIN pool_sources
    ON judged_papers.corpus_id = pool_sources.corpus_id
    AND judged_papers.query_id = pool_sources.query_id
    AND judged_papers.paper_id = pool_sources.paper_id
WHERE judged_papers.corpus = 'csfcube'
    AND judged_papers.assessor = 'adjudicated'
    AND judged_papers.paper_id <> queries.paper_id
GROUP BY queries.query_id, judged_papers.paper_id
