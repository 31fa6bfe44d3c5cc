-- By how much do two systems differ on each query?
--
-- The same pairs that `pinakes compare` tests, the greatest gain first.
--
-- {benchmark}: benchmark (synthetic)
-- {system}: system (bm25)
-- {other}: system (tfidf)
-- {measure}: measure = nDCG@10
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
    a.query_id,
    CAST(a.value AS DECIMAL(6, 4)) AS value,
    CAST(b.value AS DECIMAL(6, 4)) AS other_value,
    CAST(a.value - b.value AS DECIMAL(6, 4)) AS difference
FROM per_query AS a
INNER JOIN per_query AS b ON a.query_id = b.query_id
WHERE a.system = '{system}' AND b.system = '{other}'
ORDER BY difference DESC, a.query_id
