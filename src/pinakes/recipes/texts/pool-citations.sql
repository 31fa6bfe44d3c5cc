-- How large is each pool, and how many of its papers does some query cite?
--
-- A pool that is smaller than asked for found no more papers; what is cited stands first in it.
WITH cited AS (
    SELECT DISTINCT sampled_queries.benchmark, sampled_queries.fold, sampled_queries.field, sampled_citations.paper_id
    FROM sampled_citations
    INNER JOIN sampled_queries
        ON sampled_citations.benchmark = sampled_queries.benchmark
        AND sampled_citations.query_id = sampled_queries.query_id
)
SELECT
    pools.benchmark,
    pools.pool,
    pools.requested_size,
    pools.size,
    COUNT(cited.paper_id) AS cited
FROM pools
INNER JOIN pool_members
    ON pools.benchmark = pool_members.benchmark
    AND pools.sample = pool_members.sample
    AND pool_members.position <= pools.size
LEFT JOIN cited
    ON pools.benchmark = cited.benchmark
    AND pools.fold = cited.fold
    AND COALESCE(pools.field, '') = COALESCE(cited.field, '')
    AND pool_members.paper_id = cited.paper_id
WHERE pools.fold = 'test'
GROUP BY pools.benchmark, pools.pool, pools.requested_size, pools.size
ORDER BY pools.benchmark, pools.pool
