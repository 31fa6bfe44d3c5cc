-- The sentences that a query asks with: those of its paper's abstract that carry its facet.
SELECT
    queries.query_id,
    queries.paper_id,
    sentences.position
FROM csfcube.queries AS queries
INNER JOIN distinct_sentences AS sentences
    ON queries.paper_id = sentences.paper_id AND queries.facet = sentences.facet
WHERE sentences.section_number = 0
