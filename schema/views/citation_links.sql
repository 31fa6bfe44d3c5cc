-- Who cites whom among the papers that we hold: each pair once, however often it is mentioned.
CREATE VIEW citation_links AS
SELECT DISTINCT
    citations.citing_paper_id,
    cited_references.paper_id AS cited_paper_id
FROM citations
INNER JOIN cited_references ON citations.reference_id = cited_references.reference_id
WHERE cited_references.paper_id IS NOT NULL
