-- Appendix D of the paper: how the papers that a query's paper cites are graded, by facet; `share` is of the
-- facet's cited candidates. Cited is what the release's pools name so (`pool_sources`).
WITH grades (grade) AS (
    VALUES (0), (1), (2), (3)
),

cited AS (
    SELECT queries.facet, judged_papers.grade
    FROM csfcube.queries AS queries
    INNER JOIN judged_papers ON queries.query_id = judged_papers.query_id
    INNER JOIN pool_sources
        ON judged_papers.corpus_id = pool_sources.corpus_id
        AND judged_papers.query_id = pool_sources.query_id
        AND judged_papers.paper_id = pool_sources.paper_id
    WHERE judged_papers.corpus = 'csfcube'
        AND judged_papers.assessor = 'adjudicated'
        AND pool_sources.source = 'cited'
),

facets AS (
    SELECT facet, COUNT(*) AS candidates FROM cited GROUP BY facet
)

SELECT
    facets.facet,
    grades.grade,
    COUNT(cited.facet) AS candidates,
    CAST(COUNT(cited.facet) AS DOUBLE PRECISION) / CAST(facets.candidates AS DOUBLE PRECISION) AS share
FROM facets
CROSS JOIN grades
LEFT JOIN cited ON facets.facet = cited.facet AND grades.grade = cited.grade
GROUP BY facets.facet, facets.candidates, grades.grade
