-- Which papers of a field are cited most, in whatever field they are cited?
--
-- What "most cited" candidates are drawn from; the recipe above on a field's own classics counts citations within it.
--
-- {field}: text (Biology)
-- {assigned_by}: text (synthetic)
-- {limit}: number = 20
SELECT
    papers.source_id,
    papers.year,
    papers.title,
    COUNT(*) AS cited
FROM citation_links
INNER JOIN papers ON citation_links.cited_paper_id = papers.paper_id
INNER JOIN paper_fields ON papers.paper_id = paper_fields.paper_id
WHERE paper_fields.field = '{field}' AND paper_fields.assigned_by = '{assigned_by}'
GROUP BY papers.paper_id, papers.source_id, papers.year, papers.title
ORDER BY cited DESC, papers.source_id
LIMIT {limit}
