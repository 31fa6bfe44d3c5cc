-- Each query once for each pool that it is asked in: of its fold, in every size and repeat.
SELECT
    pools.pool || '/' || sampled_queries.query_id AS query_id,
    sampled_queries.paper_id,
    CAST(NULL AS TEXT) AS text,
    pools.pool,
    CAST(pools.requested_size AS TEXT) AS pool_size,
    CAST(pools.repeat AS TEXT) AS repeat,
    sampled_queries.fold
FROM sampled_queries
INNER JOIN pools
    ON sampled_queries.benchmark = pools.benchmark
    AND sampled_queries.fold = pools.fold
WHERE sampled_queries.benchmark = 'large_scale'
