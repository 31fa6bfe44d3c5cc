-- Which file says a mention: that of `citations.batch_id`, or its newer version which says the mentions unchanged.
CREATE VIEW citation_batches AS
SELECT
    citations.citation_id,
    citations.citing_paper_id,
    COALESCE(restated_citations.newer_batch_id, citations.batch_id) AS batch_id
FROM citations
LEFT JOIN restated_citations
    ON citations.citing_paper_id = restated_citations.citing_paper_id
    AND citations.batch_id = restated_citations.batch_id
