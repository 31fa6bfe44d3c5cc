-- How large is CSFCube, and how hard is each facet?
SELECT
    statistic,
    MAX(CASE WHEN facet = 'all' THEN value END) AS all_queries,
    MAX(CASE WHEN facet = 'background' THEN value END) AS background,
    MAX(CASE WHEN facet = 'method' THEN value END) AS method,
    MAX(CASE WHEN facet = 'result' THEN value END) AS result
FROM csfcube.collection_statistics
GROUP BY statistic
ORDER BY statistic
