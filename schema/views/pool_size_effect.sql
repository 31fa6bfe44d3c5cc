-- What a larger pool costs: the mean of each measure at each pool size, over all queries (field null) and over those
-- of each field that their paper has, beside the mean of the same run at its smallest pool.
CREATE VIEW pool_size_effect AS
WITH rankings AS (
    SELECT
        runs.run_id,
        runs.benchmark,
        runs.system,
        scores.measure,
        pools.requested_size AS pool_size,
        pools.repeat,
        sampled_queries.query_id,
        sampled_queries.paper_id,
        scores.value
    FROM runs
    INNER JOIN scores ON runs.run_id = scores.run_id
    INNER JOIN pools ON runs.benchmark = pools.benchmark
    INNER JOIN sampled_queries
        ON pools.benchmark = sampled_queries.benchmark
        AND pools.fold = sampled_queries.fold
        AND scores.query_id = pools.pool || '/' || sampled_queries.query_id
    WHERE scores.subset = 'all'
),
means AS (
    SELECT
        rankings.run_id,
        rankings.benchmark,
        rankings.system,
        rankings.measure,
        CAST(NULL AS TEXT) AS assigned_by,
        CAST(NULL AS TEXT) AS field,
        rankings.pool_size,
        COUNT(DISTINCT rankings.repeat) AS repeats,
        COUNT(DISTINCT rankings.query_id) AS queries,
        AVG(rankings.value) AS mean
    FROM rankings
    GROUP BY rankings.run_id, rankings.benchmark, rankings.system, rankings.measure, rankings.pool_size
    UNION ALL
    SELECT
        rankings.run_id,
        rankings.benchmark,
        rankings.system,
        rankings.measure,
        paper_fields.assigned_by,
        paper_fields.field,
        rankings.pool_size,
        COUNT(DISTINCT rankings.repeat) AS repeats,
        COUNT(DISTINCT rankings.query_id) AS queries,
        AVG(rankings.value) AS mean
    FROM rankings
    INNER JOIN paper_fields ON rankings.paper_id = paper_fields.paper_id
    GROUP BY
        rankings.run_id, rankings.benchmark, rankings.system, rankings.measure, paper_fields.assigned_by,
        paper_fields.field, rankings.pool_size
)
SELECT
    run_id,
    benchmark,
    system,
    measure,
    assigned_by,
    field,
    pool_size,
    repeats,
    queries,
    mean,
    mean - FIRST_VALUE(mean) OVER smaller AS difference_from_smallest,
    mean / NULLIF(FIRST_VALUE(mean) OVER smaller, 0.0) AS ratio_to_smallest
FROM means
WINDOW smaller AS (
    PARTITION BY run_id, benchmark, system, measure, assigned_by, field ORDER BY pool_size
)
