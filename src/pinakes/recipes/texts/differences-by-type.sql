-- On which candidate types do two systems differ?
--
-- Average precision within one type, query by query: a mean difference of nothing may hide a win and a loss.
--
-- {benchmark}: benchmark (mdcr_constructed)
-- {measure}: measure = AP
SELECT
    system,
    other_system,
    subset,
    COUNT(*) AS queries,
    COUNT(CASE WHEN difference > 0 THEN 1 END) AS better,
    COUNT(CASE WHEN difference < 0 THEN 1 END) AS worse,
    CAST(AVG(difference) AS DECIMAL(6, 4)) AS mean_difference
FROM score_differences
WHERE benchmark = '{benchmark}' AND measure = '{measure}' AND run_id < other_run_id
GROUP BY run_id, other_run_id, system, other_system, subset
ORDER BY run_id, other_run_id, subset
