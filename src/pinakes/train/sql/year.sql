-- The year of each paper of a corpus.

-- name: make_offered
CREATE {scratch} TABLE drawing_offered AS
SELECT
    papers.paper_id,
    CAST(NULL AS TEXT) AS label,
    CAST(papers.year AS DOUBLE PRECISION) AS value
FROM distinct_papers AS papers
WHERE papers.corpus_id = :corpus_id
