-- Are the candidates that a paper cites relevant to its facet?
SELECT facet, grade, candidates, ROUND(CAST(100 * share AS NUMERIC), 1) AS percent
FROM csfcube.cited_grades
ORDER BY facet, grade
