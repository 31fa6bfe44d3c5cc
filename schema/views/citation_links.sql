-- Who cites whom among the papers that we hold: each pair once, however often it is mentioned; a paper that
-- was merged into another stands under the one that was kept.
CREATE VIEW citation_links AS
SELECT DISTINCT
    COALESCE(citing.kept_paper_id, citations.citing_paper_id) AS citing_paper_id,
    COALESCE(cited.kept_paper_id, cited_references.paper_id) AS cited_paper_id
FROM citations
INNER JOIN cited_references ON citations.reference_id = cited_references.reference_id
LEFT JOIN duplicate_papers AS citing ON citations.citing_paper_id = citing.paper_id
LEFT JOIN duplicate_papers AS cited ON cited_references.paper_id = cited.paper_id
WHERE cited_references.paper_id IS NOT NULL
