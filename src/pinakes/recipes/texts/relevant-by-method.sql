-- Which method brought the relevant candidates into the pools?
--
-- Relevant is a grade of `relevant` or more: 2 or 3 in CSFCube, as the collection's own measures count.
--
-- {benchmark}: benchmark (csfcube)
-- {relevant}: number = 2
SELECT
    pool_sources.source,
    COUNT(*) AS candidates,
    COUNT(CASE WHEN judgments.grade >= {relevant} THEN 1 END) AS relevant,
    CAST(100.0 * SUM(CASE WHEN judgments.grade >= {relevant} THEN 1 ELSE 0 END) / COUNT(*) AS DECIMAL(5, 2)) AS per_cent
FROM {benchmark}.judgments AS judgments
INNER JOIN pool_sources
    ON judgments.query_id = pool_sources.query_id
    AND judgments.paper_id = pool_sources.paper_id
GROUP BY pool_sources.source
ORDER BY relevant DESC, pool_sources.source
