-- The queries that candidates were constructed for.
SELECT
    sampled_queries.query_id,
    sampled_queries.paper_id,
    CAST(NULL AS TEXT) AS text,
    sampled_queries.field,
    sampled_queries.fold
FROM sampled_queries
WHERE sampled_queries.benchmark = 'mdcr_constructed'
