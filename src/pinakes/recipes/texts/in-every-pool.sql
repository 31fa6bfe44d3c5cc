-- Which papers are in every pool of a size, and does any query cite them?
--
-- What no repeat leaves out is no matter of chance: cited by a query, or drawn each time.
--
-- {benchmark}: benchmark (large_scale)
-- {limit}: number = 50
SELECT
    pools.requested_size,
    papers.source_id,
    papers.year,
    COUNT(*) AS pools,
    MAX(CASE WHEN cited.paper_id IS NULL THEN 'drawn' ELSE 'cited' END) AS because
FROM pools
INNER JOIN pool_members
    ON pools.benchmark = pool_members.benchmark
    AND pools.sample = pool_members.sample
    AND pool_members.position <= pools.size
INNER JOIN papers ON pool_members.paper_id = papers.paper_id
LEFT JOIN (
    SELECT DISTINCT sampled_citations.benchmark, sampled_citations.paper_id, sampled_queries.fold
    FROM sampled_citations
    INNER JOIN sampled_queries
        ON sampled_citations.benchmark = sampled_queries.benchmark
        AND sampled_citations.query_id = sampled_queries.query_id
) AS cited
    ON pools.benchmark = cited.benchmark
    AND pools.fold = cited.fold
    AND pool_members.paper_id = cited.paper_id
INNER JOIN (SELECT benchmark, MAX(repeat) AS repeats FROM pools WHERE fold = 'test' GROUP BY benchmark) AS asked
    ON pools.benchmark = asked.benchmark
WHERE pools.benchmark = '{benchmark}' AND pools.fold = 'test'
GROUP BY pools.requested_size, papers.source_id, papers.year, asked.repeats
HAVING COUNT(*) = asked.repeats
ORDER BY pools.requested_size, papers.source_id
LIMIT {limit}
