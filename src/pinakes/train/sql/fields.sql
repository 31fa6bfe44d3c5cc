-- The fields of study of each paper of a corpus, a row each, in the classification that most of its papers have.

-- name: make_offered
CREATE {scratch} TABLE drawing_offered AS
WITH classification AS (
    SELECT paper_fields.assigned_by
    FROM paper_fields
    INNER JOIN distinct_papers AS papers ON paper_fields.paper_id = papers.paper_id
    WHERE papers.corpus_id = :corpus_id
    GROUP BY paper_fields.assigned_by
    ORDER BY COUNT(DISTINCT paper_fields.paper_id) DESC, paper_fields.assigned_by
    LIMIT 1
)
SELECT
    papers.paper_id,
    chosen.field AS label,
    CAST(NULL AS DOUBLE PRECISION) AS value
FROM distinct_papers AS papers
LEFT JOIN (
    SELECT paper_fields.paper_id, paper_fields.field
    FROM paper_fields
    INNER JOIN classification ON paper_fields.assigned_by = classification.assigned_by
) AS chosen ON papers.paper_id = chosen.paper_id
WHERE papers.corpus_id = :corpus_id
