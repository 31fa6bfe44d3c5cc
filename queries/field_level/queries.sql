-- Each query once for each pool that it is asked in: of its fold and field, in every repeat.
SELECT
    pools.pool || '/' || sampled_queries.query_id AS query_id,
    sampled_queries.paper_id,
    CAST(NULL AS TEXT) AS text,
    pools.pool,
    sampled_queries.field,
    CAST(pools.repeat AS TEXT) AS repeat,
    sampled_queries.fold
FROM sampled_queries
INNER JOIN pools
    ON sampled_queries.benchmark = pools.benchmark
    AND sampled_queries.fold = pools.fold
    AND sampled_queries.field = pools.field
WHERE sampled_queries.benchmark = 'field_level'
