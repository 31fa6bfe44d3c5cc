-- How large is each pool, and how many of its papers does some query cite?
--
-- A pool that is smaller than asked for found no more papers; what is cited stands first in it.
WITH cited AS (
    SELECT DISTINCT
        sampled_queries.benchmark,
        sampled_queries.fold,
        COALESCE(sampled_queries.field, '') AS field,
        sampled_citations.paper_id
    FROM sampled_citations
    INNER JOIN sampled_queries
        ON sampled_citations.benchmark = sampled_queries.benchmark
        AND sampled_citations.query_id = sampled_queries.query_id
    WHERE sampled_queries.fold = 'test'
),
found AS MATERIALIZED (
    SELECT cited.benchmark, cited.fold, cited.field, pool_members.sample, pool_members.position
    FROM cited
    INNER JOIN pool_members ON cited.benchmark = pool_members.benchmark AND cited.paper_id = pool_members.paper_id
)
SELECT
    pools.benchmark,
    pools.pool,
    pools.requested_size,
    pools.size,
    COUNT(found.position) AS cited
FROM pools
LEFT JOIN found
    ON pools.benchmark = found.benchmark
    AND pools.sample = found.sample
    AND pools.fold = found.fold
    AND COALESCE(pools.field, '') = found.field
    AND pools.size >= found.position
WHERE pools.fold = 'test'
GROUP BY pools.benchmark, pools.pool, pools.requested_size, pools.size
ORDER BY pools.benchmark, pools.pool
