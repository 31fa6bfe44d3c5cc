-- Mentions of works that we do not hold as papers.
CREATE VIEW unresolved_citations AS
SELECT
    citations.citation_id,
    citations.citing_paper_id,
    cited_references.reference_id,
    cited_references.corpus_id,
    cited_references.reference_key,
    cited_references.title
FROM citations
INNER JOIN cited_references ON citations.reference_id = cited_references.reference_id
WHERE cited_references.paper_id IS NULL
