-- Which candidate types fool which systems?
--
-- Of all pairs of a cited paper and a candidate of the type, the share that the system has the wrong way round: 0 is
-- faultless, 50 per cent a coin. Expect a system to look bad against its own type: those candidates were chosen because
-- it ranks them highly.
--
-- {benchmark}: benchmark (mdcr_constructed)
SELECT
    system,
    source,
    COUNT(*) AS queries,
    CAST(100.0 * SUM(pairs_above) / SUM(pairs) AS DECIMAL(5, 2)) AS per_cent_above,
    CAST(100.0 * SUM(above_first_cited) / SUM(candidates) AS DECIMAL(5, 2)) AS per_cent_above_all_cited
FROM types_above_cited
WHERE benchmark = '{benchmark}'
GROUP BY run_id, system, source
ORDER BY system, per_cent_above DESC, source, run_id
