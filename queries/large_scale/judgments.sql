-- What a query cites is relevant, in every pool that it is asked in.
SELECT
    pools.pool || '/' || sampled_queries.query_id AS query_id,
    sampled_citations.paper_id,
    1 AS grade
FROM sampled_queries
INNER JOIN sampled_citations
    ON sampled_queries.benchmark = sampled_citations.benchmark
    AND sampled_queries.query_id = sampled_citations.query_id
INNER JOIN pools
    ON sampled_queries.benchmark = pools.benchmark
    AND sampled_queries.fold = pools.fold
WHERE sampled_queries.benchmark = 'large_scale'
