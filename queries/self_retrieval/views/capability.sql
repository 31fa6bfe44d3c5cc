-- Singh and Singh 2022, Table 5: which categories a run represents as it should, by AOP-20 in per cent. It is
-- above `above` and below `below`, where these are not null. Every reading of the nearest candidates has a row.
WITH thresholds (number, category, above, below) AS (
    VALUES
    (1, 'LL-HS', 75, CAST(NULL AS INTEGER)),
    (2, 'LO-HS', 70, NULL),
    (3, 'LL-PS', 50, 70),
    (4, 'LO-PS', 50, 70),
    (5, 'LO-DS', NULL, 20)
),

measured AS (
    SELECT
        runs.run_id,
        runs.corpus,
        runs.system,
        runs.mode,
        thresholds.number,
        thresholds.category,
        thresholds.above,
        thresholds.below,
        SUBSTR(scores.measure, 8, LENGTH(scores.measure) - 8) AS reading,
        100 * scores.value AS aop_20
    FROM runs
    INNER JOIN scores ON runs.run_id = scores.run_id
    INNER JOIN thresholds ON scores.subset = 'category=' || thresholds.category
    WHERE runs.benchmark = 'self_retrieval' AND scores.query_id IS NULL AND scores.measure LIKE 'AOP@20[%'
)

SELECT
    run_id,
    corpus,
    system,
    mode,
    reading,
    number,
    category,
    above,
    below,
    aop_20,
    (above IS NULL OR aop_20 > above) AND (below IS NULL OR aop_20 < below) AS is_met
FROM measured
