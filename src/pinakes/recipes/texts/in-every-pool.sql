-- Which papers are in every pool of a size, and does any query cite them?
--
-- What no repeat leaves out is no matter of chance: cited by a query, or drawn each time.
--
-- {benchmark}: benchmark (large_scale)
-- {limit}: number = 50
WITH kept AS (
    SELECT pools.requested_size, pool_members.paper_id, COUNT(*) AS pools
    FROM pools
    INNER JOIN pool_members
        ON pools.benchmark = pool_members.benchmark
        AND pools.sample = pool_members.sample
        AND pool_members.position <= pools.size
    WHERE pools.benchmark = '{benchmark}' AND pools.fold = 'test'
    GROUP BY pools.requested_size, pool_members.paper_id
    HAVING COUNT(*) = (SELECT MAX(repeat) FROM pools WHERE benchmark = '{benchmark}' AND fold = 'test')
),
cited AS (
    SELECT DISTINCT sampled_citations.paper_id
    FROM sampled_citations
    INNER JOIN sampled_queries
        ON sampled_citations.benchmark = sampled_queries.benchmark
        AND sampled_citations.query_id = sampled_queries.query_id
    WHERE sampled_queries.benchmark = '{benchmark}' AND sampled_queries.fold = 'test'
)
SELECT
    kept.requested_size,
    papers.source_id,
    papers.year,
    kept.pools,
    CASE WHEN cited.paper_id IS NULL THEN 'drawn' ELSE 'cited' END AS because
FROM kept
INNER JOIN papers ON kept.paper_id = papers.paper_id
LEFT JOIN cited ON kept.paper_id = cited.paper_id
ORDER BY kept.requested_size, papers.source_id
LIMIT {limit}
