-- Is a candidate that is relevant under one facet relevant under another?
SELECT
    facet_a,
    facet_b,
    CAST(SUM(CASE WHEN grade_a >= 2 AND grade_b >= 2 THEN candidates ELSE 0 END) AS BIGINT) AS under_both,
    CAST(SUM(CASE WHEN grade_a >= 2 AND grade_b < 2 THEN candidates ELSE 0 END) AS BIGINT) AS under_a_alone,
    CAST(SUM(CASE WHEN grade_a < 2 AND grade_b >= 2 THEN candidates ELSE 0 END) AS BIGINT) AS under_b_alone
FROM csfcube.facet_pairs
GROUP BY facet_a, facet_b
ORDER BY facet_a, facet_b
