-- The averages of a suite by system and mode, over the figures that the system has: of each group and, as the group
-- Average, of all of them; over all formats, and as `format` over those of one. Fewer figures scored than expected is
-- no place in a ranking. `coverage` is the share of the figures' queries or test papers that have an answer.
CREATE VIEW leaderboard AS
WITH expected AS (
    SELECT DISTINCT
        suite_figures.suite,
        suite_figures.suite_group,
        suite_figures.benchmark,
        benchmarks.format,
        suite_figures.figure
    FROM suite_figures
    INNER JOIN benchmarks ON suite_figures.benchmark = benchmarks.name
    LEFT JOIN suite_extras
        ON suite_figures.suite = suite_extras.suite
        AND suite_figures.benchmark = suite_extras.benchmark
    WHERE suite_extras.benchmark IS NULL
),
of_groups AS (
    SELECT expected.suite, expected.suite_group, expected.benchmark, expected.format, expected.figure
    FROM expected
    UNION ALL
    SELECT expected.suite, 'Average', expected.benchmark, expected.format, expected.figure
    FROM expected
),
of_formats AS (
    SELECT of_groups.suite, of_groups.suite_group, of_groups.benchmark, of_groups.figure, 'all' AS format
    FROM of_groups
    UNION ALL
    SELECT of_groups.suite, of_groups.suite_group, of_groups.benchmark, of_groups.figure, of_groups.format
    FROM of_groups
    WHERE of_groups.format IS NOT NULL
),
systems AS (
    SELECT DISTINCT
        suite_scores.suite,
        suite_scores.mode,
        suite_scores.system
    FROM suite_scores
)
SELECT
    systems.suite,
    systems.mode,
    systems.system,
    of_formats.suite_group,
    of_formats.format,
    AVG(suite_scores.value) AS value,
    COUNT(suite_scores.value) AS figures_scored,
    COUNT(*) AS figures_expected,
    CAST(SUM(suite_scores.queries_answered) AS DOUBLE PRECISION)
    / NULLIF(SUM(suite_scores.queries_expected), 0) AS coverage
FROM systems
INNER JOIN of_formats ON systems.suite = of_formats.suite
LEFT JOIN suite_scores
    ON systems.suite = suite_scores.suite
    AND systems.mode = suite_scores.mode
    AND systems.system = suite_scores.system
    AND of_formats.benchmark = suite_scores.benchmark
    AND of_formats.figure = suite_scores.figure
GROUP BY systems.suite, systems.mode, systems.system, of_formats.suite_group, of_formats.format
