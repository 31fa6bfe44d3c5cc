-- How did a figure move from evaluation to evaluation?
--
-- Every evaluation that changed something is one row of `evaluations`, the newest last; `pinakes evaluate --fail-on-drop` ends a job where one falls.
--
-- {benchmark}: benchmark (synthetic)
-- {measure}: measure = nDCG@10
SELECT
    system,
    evaluation_id,
    CAST(value AS DECIMAL(6, 4)) AS value,
    CAST(value - LAG(value) OVER (PARTITION BY line ORDER BY evaluation_id) AS DECIMAL(6, 4)) AS change
FROM score_history
WHERE benchmark = '{benchmark}' AND measure = '{measure}' AND subset = 'all'
ORDER BY system, line, evaluation_id
