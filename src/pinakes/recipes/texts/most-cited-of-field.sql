-- Which papers of a field are cited most, in whatever field they are cited?
--
-- What "most cited" candidates are drawn from; the recipe above on a field's own classics counts citations within it. The field
-- is asked for before its mentions are brought together, which `citation_links` would do for all fields first.
--
-- {field}: text (Biology)
-- {assigned_by}: text (synthetic)
-- {limit}: number = 20
WITH works AS (
    SELECT cited_references.reference_id, paper_fields.paper_id
    FROM cited_references
    LEFT JOIN duplicate_papers AS merged ON cited_references.paper_id = merged.paper_id
    INNER JOIN paper_fields ON COALESCE(merged.kept_paper_id, cited_references.paper_id) = paper_fields.paper_id
    WHERE paper_fields.field = '{field}' AND paper_fields.assigned_by = '{assigned_by}'
),
received AS (
    SELECT works.paper_id, COUNT(DISTINCT COALESCE(merged.kept_paper_id, citations.citing_paper_id)) AS cited
    FROM works
    INNER JOIN citations ON works.reference_id = citations.reference_id
    LEFT JOIN duplicate_papers AS merged ON citations.citing_paper_id = merged.paper_id
    GROUP BY works.paper_id
)
SELECT papers.source_id, papers.year, papers.title, received.cited
FROM received
INNER JOIN papers ON received.paper_id = papers.paper_id
ORDER BY received.cited DESC, papers.source_id
LIMIT {limit}
