-- How much do the repeats of a pool share?
--
-- Independent draws share the cited papers and what chance gives them: the larger the pool, the more of the corpus.
--
-- {benchmark}: benchmark (large_scale)
WITH members AS (
    SELECT pools.requested_size, pools.repeat, pool_members.paper_id
    FROM pools
    INNER JOIN pool_members
        ON pools.benchmark = pool_members.benchmark
        AND pools.sample = pool_members.sample
        AND pool_members.position <= pools.size
    WHERE pools.benchmark = '{benchmark}' AND pools.fold = 'test'
)
SELECT
    one.requested_size,
    one.repeat,
    other.repeat AS other_repeat,
    COUNT(*) AS shared,
    CAST(100.0 * COUNT(*) / one.requested_size AS DECIMAL(5, 2)) AS per_cent
FROM members AS one
INNER JOIN members AS other
    ON one.requested_size = other.requested_size
    AND one.paper_id = other.paper_id
    AND one.repeat < other.repeat
GROUP BY one.requested_size, one.repeat, other.repeat
ORDER BY one.requested_size, one.repeat, other.repeat
