-- How are the grades distributed?
--
-- The histogram behind every mean; `queries` have at least one paper of the grade.
--
-- {benchmark}: benchmark (csfcube)
SELECT
    grade,
    COUNT(*) AS pairs,
    COUNT(DISTINCT query_id) AS queries,
    CAST(100.0 * COUNT(*) / (SELECT COUNT(*) FROM {benchmark}.judgments) AS DECIMAL(5, 2)) AS per_cent
FROM {benchmark}.judgments
GROUP BY grade
ORDER BY grade
