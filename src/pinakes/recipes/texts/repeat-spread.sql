-- How far does each figure move when its pool is drawn again?
--
-- A difference between systems that is smaller than this spread says little.
--
-- {benchmark}: benchmark (large_scale)
SELECT
    system,
    measure,
    subset,
    repeats,
    CAST(mean AS DECIMAL(6, 4)) AS mean,
    CAST(deviation AS DECIMAL(6, 4)) AS deviation,
    CAST(highest - lowest AS DECIMAL(6, 4)) AS widest
FROM repeat_spread
WHERE benchmark = '{benchmark}' AND repeats > 1
ORDER BY measure, subset, system, run_id
