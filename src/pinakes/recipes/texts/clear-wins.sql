-- On which queries does one system beat another clearly, and what do they ask?
--
-- Reading twenty of these says more about a system than its mean does.
--
-- {benchmark}: benchmark (synthetic)
-- {system}: system (bm25)
-- {other}: system (minilm)
-- {measure}: measure = nDCG@10
-- {by}: number = 0.2
WITH newest AS (
    SELECT system, MAX(run_id) AS run_id
    FROM runs
    WHERE benchmark = '{benchmark}'
    GROUP BY system
),
per_query AS (
    SELECT newest.system, scores.query_id, scores.value
    FROM scores
    INNER JOIN newest ON scores.run_id = newest.run_id
    WHERE scores.measure = '{measure}' AND scores.subset = 'all' AND scores.query_id IS NOT NULL
)
SELECT
    one.query_id,
    CAST(one.value AS DECIMAL(6, 4)) AS value,
    CAST(other.value AS DECIMAL(6, 4)) AS other_value,
    queries.text
FROM per_query AS one
INNER JOIN per_query AS other ON one.query_id = other.query_id
INNER JOIN {benchmark}.queries AS queries ON one.query_id = queries.query_id
WHERE one.system = '{system}' AND other.system = '{other}' AND one.value - other.value > {by}
ORDER BY one.value - other.value DESC, one.query_id
