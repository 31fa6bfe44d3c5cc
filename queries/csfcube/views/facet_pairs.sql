-- Figure 2 of the paper: the candidates of papers that are asked under two facets, by the grades that the same
-- candidate has under the one and under the other; every pair of grades, also those that no candidate has.
WITH grades (grade) AS (
    VALUES (0), (1), (2), (3)
),

-- A row a candidate of a query paper, in place of a join of 6,244 grades with themselves.
graded AS (
    SELECT
        queries.paper_id AS query_paper_id,
        judged_papers.paper_id,
        MAX(CASE WHEN queries.facet = 'background' THEN judged_papers.grade END) AS background,
        MAX(CASE WHEN queries.facet = 'method' THEN judged_papers.grade END) AS method,
        MAX(CASE WHEN queries.facet = 'result' THEN judged_papers.grade END) AS result
    FROM csfcube.queries AS queries
    INNER JOIN judged_papers ON queries.query_id = judged_papers.query_id
    WHERE judged_papers.corpus = 'csfcube' AND judged_papers.assessor = 'adjudicated'
    GROUP BY queries.paper_id, judged_papers.paper_id
),

paired AS (
    SELECT 'background' AS facet_a, 'method' AS facet_b, background AS grade_a, method AS grade_b FROM graded
    UNION ALL
    SELECT 'background' AS facet_a, 'result' AS facet_b, background AS grade_a, result AS grade_b FROM graded
    UNION ALL
    SELECT 'method' AS facet_a, 'result' AS facet_b, method AS grade_a, result AS grade_b FROM graded
),

asked AS (
    SELECT facet_a, facet_b, grade_a, grade_b
    FROM paired
    WHERE grade_a IS NOT NULL AND grade_b IS NOT NULL
),

facets AS (
    SELECT DISTINCT facet_a, facet_b FROM asked
)

SELECT
    facets.facet_a,
    facets.facet_b,
    grades_a.grade AS grade_a,
    grades_b.grade AS grade_b,
    COUNT(asked.facet_a) AS candidates
FROM facets
CROSS JOIN grades AS grades_a
CROSS JOIN grades AS grades_b
LEFT JOIN asked
    ON facets.facet_a = asked.facet_a
    AND facets.facet_b = asked.facet_b
    AND grades_a.grade = asked.grade_a
    AND grades_b.grade = asked.grade_b
GROUP BY facets.facet_a, facets.facet_b, grades_a.grade, grades_b.grade
