-- Which queries are hard for every system?
--
-- The best that any run reaches is the measure of a query's difficulty; where it is low, all of them miss.
--
-- {benchmark}: benchmark (mdcr_constructed)
-- {measure}: measure = AP
-- {limit}: number = 20
SELECT
    scores.query_id,
    CAST(MAX(scores.value) AS DECIMAL(6, 4)) AS best,
    CAST(AVG(scores.value) AS DECIMAL(6, 4)) AS mean,
    COALESCE(queries.text, papers.title) AS query
FROM scores
INNER JOIN runs ON scores.run_id = runs.run_id
INNER JOIN {benchmark}.queries AS queries ON scores.query_id = queries.query_id
LEFT JOIN papers ON queries.paper_id = papers.paper_id
WHERE runs.benchmark = '{benchmark}' AND scores.measure = '{measure}' AND scores.subset = 'all'
GROUP BY scores.query_id, queries.text, papers.title
ORDER BY best, mean, scores.query_id
LIMIT {limit}
