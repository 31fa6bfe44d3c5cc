-- Who cites whom across fields?
--
-- A citation counts for every pair of a field of the citing paper and one of the cited; `per_cent` is of all that the citing
-- field cites, `of_its_own` of a field its own.
--
-- {corpus}: corpus (synthetic)
WITH pairs AS (
    SELECT citing.field AS citing_field, cited.field AS cited_field, COUNT(*) AS citations
    FROM citation_links
    INNER JOIN paper_fields AS citing ON citation_links.citing_paper_id = citing.paper_id
    INNER JOIN paper_fields AS cited
        ON citation_links.cited_paper_id = cited.paper_id
        AND citing.assigned_by = cited.assigned_by
    INNER JOIN papers ON citation_links.citing_paper_id = papers.paper_id
    INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
    WHERE corpora.name = '{corpus}'
    GROUP BY citing.field, cited.field
)
SELECT
    citing_field,
    cited_field,
    citations,
    CAST(100.0 * citations / SUM(citations) OVER (PARTITION BY citing_field) AS DECIMAL(5, 2)) AS per_cent,
    CASE WHEN citing_field = cited_field THEN 'yes' ELSE 'no' END AS of_its_own
FROM pairs
ORDER BY citing_field, citations DESC, cited_field
