-- The papers of each pool: all that its queries cite, then papers drawn at random.
SELECT
    pools.pool,
    pool_members.paper_id
FROM pools
INNER JOIN pool_members
    ON pools.benchmark = pool_members.benchmark
    AND pools.sample = pool_members.sample
    AND pool_members.position <= pools.size
WHERE pools.benchmark = 'large_scale'
