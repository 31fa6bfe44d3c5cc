-- How many relevant papers have the queries?
--
-- With one or two, a query is all or nothing, and recall at ten says what success at ten says. Queries without any are in no
-- mean.
--
-- {benchmark}: benchmark (synthetic)
-- {relevant}: number = 1
WITH counted AS (
    SELECT
        queries.query_id,
        COUNT(judgments.paper_id) AS judged,
        COUNT(CASE WHEN judgments.grade >= {relevant} THEN 1 END) AS relevant
    FROM {benchmark}.queries AS queries
    LEFT JOIN {benchmark}.judgments AS judgments ON queries.query_id = judgments.query_id
    GROUP BY queries.query_id
)
SELECT
    relevant,
    COUNT(*) AS queries,
    MIN(judged) AS fewest_judged,
    MAX(judged) AS most_judged,
    CAST(100.0 * SUM(COUNT(*)) OVER (ORDER BY relevant) / SUM(COUNT(*)) OVER () AS DECIMAL(5, 2)) AS per_cent_up_to
FROM counted
GROUP BY relevant
ORDER BY relevant
