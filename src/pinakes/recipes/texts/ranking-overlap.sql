-- How alike are the rankings of each two systems?
--
-- The mean Jaccard index of their first 10 and their first 200. The construction compares the best negatives in the same
-- way; what it chose is in `construction_models`.
--
-- {benchmark}: benchmark (field_level)
SELECT
    system,
    other_system,
    depth,
    COUNT(*) AS queries,
    CAST(AVG(shared) AS DECIMAL(6, 2)) AS mean_shared,
    CAST(AVG(jaccard) AS DECIMAL(6, 4)) AS mean_jaccard
FROM run_disagreement
WHERE benchmark = '{benchmark}' AND run_id < other_run_id
GROUP BY run_id, other_run_id, system, other_system, depth
ORDER BY depth, mean_jaccard, run_id, other_run_id
