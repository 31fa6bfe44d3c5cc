-- How much of what each system finds was judged?
--
-- A run whose first papers nobody judged is measured by what is missing. Compare systems whose shares are alike, or judge more.
--
-- {benchmark}: benchmark (synthetic)
-- {depth}: number = 10
SELECT
    runs.run_id,
    runs.system,
    COUNT(*) AS hits,
    COUNT(judgments.grade) AS judged,
    CAST(100.0 * COUNT(judgments.grade) / COUNT(*) AS DECIMAL(5, 2)) AS per_cent_judged,
    COUNT(CASE WHEN judgments.grade > 0 THEN 1 END) AS relevant
FROM runs
INNER JOIN hits ON runs.run_id = hits.run_id
LEFT JOIN {benchmark}.judgments AS judgments
    ON hits.query_id = judgments.query_id
    AND hits.paper_id = judgments.paper_id
WHERE runs.benchmark = '{benchmark}' AND hits.rank <= {depth}
GROUP BY runs.run_id, runs.system
ORDER BY per_cent_judged DESC, runs.run_id
