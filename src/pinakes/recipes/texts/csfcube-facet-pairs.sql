-- Is a candidate that is relevant under one facet relevant under another?
SELECT
    facet_a,
    facet_b,
    SUM(CASE WHEN grade_a >= 2 AND grade_b >= 2 THEN candidates ELSE 0 END) AS under_both,
    SUM(CASE WHEN grade_a >= 2 AND grade_b < 2 THEN candidates ELSE 0 END) AS under_a_alone,
    SUM(CASE WHEN grade_a < 2 AND grade_b >= 2 THEN candidates ELSE 0 END) AS under_b_alone
FROM csfcube.facet_pairs
GROUP BY facet_a, facet_b
ORDER BY facet_a, facet_b
