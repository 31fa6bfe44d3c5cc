-- Does a run reproduce the figures that were published for its system?
--
-- The join is on benchmark, system, subset and measure: import a ranking under the name that the paper uses.
SELECT
    runs.run_id,
    published_scores.system,
    published_scores.subset,
    published_scores.measure,
    published_scores.printed,
    CAST(100 * CAST(scores.value AS DECIMAL(20, 12)) AS DECIMAL(6, 2)) AS ours,
    CAST(100 * CAST(scores.value - published_scores.value AS DECIMAL(20, 12)) AS DECIMAL(6, 2)) AS difference
FROM published_scores
INNER JOIN runs
    ON published_scores.benchmark = runs.benchmark
    AND published_scores.system = runs.system
INNER JOIN scores
    ON runs.run_id = scores.run_id
    AND published_scores.subset = scores.subset
    AND published_scores.measure = scores.measure
WHERE scores.query_id IS NULL
ORDER BY runs.run_id, published_scores.subset, published_scores.measure
