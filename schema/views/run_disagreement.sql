-- How far two runs of a benchmark agree on a query: the papers that both have among their first 10, and 200. Each
-- pair of runs stands here in both orders. Ask for one depth, or the rankings are read to both.
CREATE VIEW run_disagreement AS
WITH sides AS NOT MATERIALIZED (
    SELECT
        one.run_id,
        other.run_id AS other_run_id,
        one.benchmark,
        one.system,
        other.system AS other_system,
        one.run_id AS ranked_by
    FROM runs AS one
    INNER JOIN runs AS other ON one.benchmark = other.benchmark AND one.run_id <> other.run_id
    UNION ALL
    SELECT
        one.run_id,
        other.run_id AS other_run_id,
        one.benchmark,
        one.system,
        other.system AS other_system,
        other.run_id AS ranked_by
    FROM runs AS one
    INNER JOIN runs AS other ON one.benchmark = other.benchmark AND one.run_id <> other.run_id
),
listed AS (
    SELECT
        sides.run_id,
        sides.other_run_id,
        sides.benchmark,
        sides.system,
        sides.other_system,
        hits.query_id,
        10 AS depth,
        hits.paper_id,
        COUNT(*) AS rankings
    FROM sides
    INNER JOIN hits ON sides.ranked_by = hits.run_id
    WHERE hits.rank <= 10
    GROUP BY
        sides.run_id, sides.other_run_id, sides.benchmark, sides.system, sides.other_system,
        hits.query_id, hits.paper_id
    UNION ALL
    SELECT
        sides.run_id,
        sides.other_run_id,
        sides.benchmark,
        sides.system,
        sides.other_system,
        hits.query_id,
        200 AS depth,
        hits.paper_id,
        COUNT(*) AS rankings
    FROM sides
    INNER JOIN hits ON sides.ranked_by = hits.run_id
    WHERE hits.rank <= 200
    GROUP BY
        sides.run_id, sides.other_run_id, sides.benchmark, sides.system, sides.other_system,
        hits.query_id, hits.paper_id
)
SELECT
    run_id,
    other_run_id,
    benchmark,
    system,
    other_system,
    query_id,
    depth,
    CAST(SUM(CASE WHEN rankings = 2 THEN 1 ELSE 0 END) AS BIGINT) AS shared,
    COUNT(*) AS papers,
    CAST(SUM(CASE WHEN rankings = 2 THEN 1 ELSE 0 END) AS DOUBLE PRECISION) / COUNT(*) AS jaccard
FROM listed
GROUP BY run_id, other_run_id, benchmark, system, other_system, query_id, depth
