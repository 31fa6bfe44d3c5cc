-- Where do two systems disagree most, and who is right?
--
-- Few shared papers among the first ten, and what that does to the average precision. Each pair of runs stands in the view
-- in both orders: `run_id < other_run_id` takes it once.
--
-- {benchmark}: benchmark (field_level)
-- {measure}: measure = AP
-- {limit}: number = 20
SELECT
    run_disagreement.system,
    run_disagreement.other_system,
    run_disagreement.query_id,
    run_disagreement.shared,
    CAST(run_disagreement.jaccard AS DECIMAL(6, 4)) AS jaccard,
    CAST(score_differences.value AS DECIMAL(6, 4)) AS one,
    CAST(score_differences.other_value AS DECIMAL(6, 4)) AS other,
    CAST(score_differences.difference AS DECIMAL(6, 4)) AS difference
FROM run_disagreement
INNER JOIN score_differences
    ON run_disagreement.run_id = score_differences.run_id
    AND run_disagreement.other_run_id = score_differences.other_run_id
    AND run_disagreement.query_id = score_differences.query_id
WHERE run_disagreement.benchmark = '{benchmark}'
    AND run_disagreement.run_id < run_disagreement.other_run_id
    AND run_disagreement.depth = 10
    AND score_differences.measure = '{measure}'
    AND score_differences.subset = 'all'
ORDER BY run_disagreement.shared, run_disagreement.query_id, run_disagreement.run_id, run_disagreement.other_run_id
LIMIT {limit}
