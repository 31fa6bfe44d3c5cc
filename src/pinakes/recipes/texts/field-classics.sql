-- Which papers does a field itself cite most?
--
-- Only citations from papers of the same field count, so that a field's own classics come first.
--
-- {field}: text = Medicine
-- {limit}: number = 20
SELECT
    cited.source_id,
    cited.year,
    cited.title,
    COUNT(*) AS cited_in_field
FROM citation_links
INNER JOIN papers AS cited ON citation_links.cited_paper_id = cited.paper_id
INNER JOIN paper_fields AS cited_fields ON cited.paper_id = cited_fields.paper_id
INNER JOIN paper_fields AS citing_fields
    ON citation_links.citing_paper_id = citing_fields.paper_id
    AND citing_fields.field = cited_fields.field
    AND citing_fields.assigned_by = cited_fields.assigned_by
WHERE cited_fields.field = '{field}'
GROUP BY cited.source_id, cited.year, cited.title
ORDER BY cited_in_field DESC, cited.source_id
LIMIT {limit}
