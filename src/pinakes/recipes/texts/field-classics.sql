-- Which papers does a field itself cite most?
--
-- Only citations from papers of the same field count, so that a field's own classics come first. The field is asked for before
-- its mentions are brought together, which `citation_links` would do for all fields first.
--
-- {field}: text = Medicine
-- {limit}: number = 20
WITH works AS (
    SELECT cited_references.reference_id, paper_fields.paper_id, paper_fields.assigned_by
    FROM cited_references
    LEFT JOIN duplicate_papers AS merged ON cited_references.paper_id = merged.paper_id
    INNER JOIN paper_fields ON COALESCE(merged.kept_paper_id, cited_references.paper_id) = paper_fields.paper_id
    WHERE paper_fields.field = '{field}'
),
links AS (
    SELECT DISTINCT
        works.paper_id,
        works.assigned_by,
        COALESCE(merged.kept_paper_id, citations.citing_paper_id) AS citing_paper_id
    FROM works
    INNER JOIN citations ON works.reference_id = citations.reference_id
    LEFT JOIN duplicate_papers AS merged ON citations.citing_paper_id = merged.paper_id
),
received AS (
    SELECT links.paper_id, COUNT(*) AS cited_in_field
    FROM links
    INNER JOIN paper_fields
        ON links.citing_paper_id = paper_fields.paper_id
        AND links.assigned_by = paper_fields.assigned_by
    WHERE paper_fields.field = '{field}'
    GROUP BY links.paper_id
)
SELECT papers.source_id, papers.year, papers.title, received.cited_in_field
FROM received
INNER JOIN papers ON received.paper_id = papers.paper_id
ORDER BY received.cited_in_field DESC, papers.source_id
LIMIT {limit}
