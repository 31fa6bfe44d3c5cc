-- How do our runs stand among the published figures?
--
-- Ours and theirs in one ranking; `printed` is the figure as the paper prints it.
--
-- {benchmark}: benchmark (csfcube)
-- {measure}: measure (CSFCube.nDCG%20)
-- {subset}: text = all/test
SELECT
    'ours' AS reported_by,
    CONCAT(runs.system, ' (run ', runs.run_id, ')') AS system,
    CAST(100 * CAST(scores.value AS DECIMAL(20, 12)) AS DECIMAL(6, 2)) AS value,
    CAST(NULL AS TEXT) AS printed
FROM scores
INNER JOIN runs ON scores.run_id = runs.run_id
WHERE runs.benchmark = '{benchmark}'
    AND scores.measure = '{measure}'
    AND scores.subset = '{subset}'
    AND scores.query_id IS NULL
UNION ALL
SELECT
    source AS reported_by,
    system,
    CAST(100 * CAST(value AS DECIMAL(20, 12)) AS DECIMAL(6, 2)) AS value,
    printed
FROM published_scores
WHERE benchmark = '{benchmark}' AND measure = '{measure}' AND subset = '{subset}'
ORDER BY value DESC, reported_by, system
