-- Which annotators disagree with each other, and who is stricter?
--
-- Every pair of assessors over the papers that both graded; `b_above_a` is by how much b's grades are higher on average.
-- The coefficients are `pinakes agreement csfcube`.
--
-- {corpus}: corpus (csfcube)
WITH grades AS (
    SELECT query_id, paper_id, split, assessor, GREATEST(grade, 0) AS grade
    FROM judged_papers
    WHERE corpus = '{corpus}'
)
SELECT
    a.assessor AS a,
    b.assessor AS b,
    COUNT(DISTINCT a.query_id) AS queries,
    COUNT(*) AS papers,
    CAST(100.0 * SUM(CASE WHEN a.grade = b.grade THEN 1 ELSE 0 END) / COUNT(*) AS DECIMAL(5, 2)) AS per_cent_alike,
    COUNT(CASE WHEN ABS(a.grade - b.grade) > 1 THEN 1 END) AS two_or_more_apart,
    CAST(1.0 * SUM(b.grade - a.grade) / COUNT(*) AS DECIMAL(6, 3)) AS b_above_a
FROM grades AS a
INNER JOIN grades AS b
    ON a.query_id = b.query_id
    AND a.paper_id = b.paper_id
    AND a.split = b.split
    AND a.assessor < b.assessor
GROUP BY a.assessor, b.assessor
ORDER BY a.assessor, b.assessor
