-- Each figure of a suite by each system in each mode: by its run of `pinakes run SUITE`, else by the newest run of its
-- name. A name all of whose newest runs are those of other systems of the suite, as an encoder's that serves one format
-- of a system, is no system of its own. A figure is the mean of its scores; it has no value while one is missing.
CREATE VIEW suite_scores AS
WITH members AS (
    SELECT DISTINCT
        suite_figures.suite,
        suite_figures.benchmark
    FROM suite_figures
),
named AS (
    SELECT
        members.suite,
        runs.system,
        runs.mode,
        runs.benchmark,
        MAX(runs.run_id) AS run_id
    FROM runs
    INNER JOIN members ON runs.benchmark = members.benchmark
    GROUP BY members.suite, runs.system, runs.mode, runs.benchmark
),
independent AS (
    SELECT DISTINCT
        named.suite,
        named.system,
        named.mode
    FROM named
    WHERE NOT EXISTS (
        SELECT 1
        FROM suite_runs
        WHERE suite_runs.suite = named.suite AND suite_runs.run_id = named.run_id
    )
),
newest AS (
    SELECT
        suite_runs.suite,
        suite_runs.system,
        suite_runs.mode,
        suite_runs.benchmark,
        suite_runs.run_id
    FROM suite_runs
    UNION ALL
    SELECT
        named.suite,
        named.system,
        named.mode,
        named.benchmark,
        named.run_id
    FROM named
    INNER JOIN independent
        ON named.suite = independent.suite
        AND named.system = independent.system
        AND named.mode = independent.mode
    WHERE NOT EXISTS (
        SELECT 1
        FROM suite_runs
        WHERE suite_runs.suite = named.suite
            AND suite_runs.system = named.system
            AND suite_runs.mode = named.mode
            AND suite_runs.benchmark = named.benchmark
    )
)
SELECT
    suite_figures.suite,
    newest.mode,
    newest.system,
    suite_figures.suite_group,
    suite_figures.benchmark,
    benchmarks.format,
    suite_figures.figure,
    newest.run_id,
    suite_extras.benchmark IS NULL AS in_average,
    CASE WHEN COUNT(scores.value) = COUNT(*) THEN AVG(scores.value) END AS value,
    MIN(suite_intervals.low) AS low,
    MIN(suite_intervals.high) AS high,
    MAX(scores.queries_expected) AS queries_expected,
    MIN(scores.queries_answered) AS queries_answered
FROM suite_figures
INNER JOIN newest
    ON suite_figures.suite = newest.suite
    AND suite_figures.benchmark = newest.benchmark
INNER JOIN benchmarks ON suite_figures.benchmark = benchmarks.name
LEFT JOIN scores
    ON newest.run_id = scores.run_id
    AND suite_figures.subset = scores.subset
    AND suite_figures.measure = scores.measure
    AND scores.query_id IS NULL
LEFT JOIN suite_intervals
    ON newest.run_id = suite_intervals.run_id
    AND suite_figures.suite = suite_intervals.suite
    AND suite_figures.figure = suite_intervals.figure
LEFT JOIN suite_extras
    ON suite_figures.suite = suite_extras.suite
    AND suite_figures.benchmark = suite_extras.benchmark
GROUP BY
    suite_figures.suite,
    newest.mode,
    newest.system,
    suite_figures.suite_group,
    suite_figures.benchmark,
    benchmarks.format,
    suite_figures.figure,
    newest.run_id,
    suite_extras.benchmark
