-- How often each paper of a corpus is cited, where it is cited at all (appendix A.4).

-- name: make_offered
CREATE {scratch} TABLE drawing_offered AS
SELECT
    papers.paper_id,
    CAST(NULL AS TEXT) AS label,
    CAST(CASE WHEN papers.citation_count > 0 THEN papers.citation_count END AS DOUBLE PRECISION) AS value
FROM distinct_papers AS papers
WHERE papers.corpus_id = :corpus_id
