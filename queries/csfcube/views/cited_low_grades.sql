-- Appendix D of the paper: of the candidates that a query's paper cites, how many are graded 0 or 1, by facet.
SELECT
    facet,
    CAST(SUM(candidates) AS BIGINT) AS candidates,
    CAST(SUM(CASE WHEN grade <= 1 THEN candidates ELSE 0 END) AS BIGINT) AS graded_0_or_1,
    100 * CAST(SUM(CASE WHEN grade <= 1 THEN candidates ELSE 0 END) AS DOUBLE PRECISION)
    / CAST(SUM(candidates) AS DOUBLE PRECISION) AS percent_graded_0_or_1
FROM csfcube.cited_grades
GROUP BY facet
