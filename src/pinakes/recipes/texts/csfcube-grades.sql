-- How are the grades of CSFCube distributed in each facet?
--
-- The histogram behind every mean: a facet with few grades of 2 and 3 is a hard one.
SELECT
    queries.facet,
    judgments.grade,
    COUNT(*) AS pairs,
    COUNT(DISTINCT judgments.query_id) AS queries
FROM csfcube.judgments AS judgments
INNER JOIN csfcube.queries AS queries ON judgments.query_id = queries.query_id
GROUP BY queries.facet, judgments.grade
ORDER BY queries.facet, judgments.grade
