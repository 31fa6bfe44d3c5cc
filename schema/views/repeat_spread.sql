-- How far a value moves when its pool is drawn again: each subset over its repeats, `pool_size=200000` over
-- `pool_size=200000/repeat=1` and so on. The deviation is that of a sample; null of one repeat, and of repeats that
-- are over different numbers of queries, as where some fields have fewer pools.
CREATE VIEW repeat_spread AS
SELECT
    runs.run_id,
    runs.benchmark,
    runs.system,
    scores.measure,
    SPLIT_PART(scores.subset, '/repeat=', 1) AS subset,
    COUNT(*) AS repeats,
    AVG(scores.value) AS mean,
    CASE
        WHEN MIN(scores.queries_expected) = MAX(scores.queries_expected) THEN STDDEV_SAMP(scores.value)
    END AS deviation,
    MIN(scores.value) AS lowest,
    MAX(scores.value) AS highest
FROM scores
INNER JOIN runs ON scores.run_id = runs.run_id
WHERE scores.query_id IS NULL AND scores.subset LIKE '%/repeat=%'
GROUP BY
    runs.run_id, runs.benchmark, runs.system, scores.measure, SPLIT_PART(scores.subset, '/repeat=', 1)
