-- How many candidates of each type a run ranks above the papers that the query cites. A candidate without a rank
-- stands below every ranked one; a query that the run did not answer is left out, for it would look faultless.
CREATE VIEW types_above_cited AS
WITH ranked AS (
    SELECT
        runs.run_id,
        runs.benchmark,
        runs.system,
        candidate_types.query_id,
        candidate_types.source,
        hits.rank,
        COUNT(hits.rank) OVER (
            PARTITION BY runs.run_id, runs.benchmark, runs.system, candidate_types.query_id
        ) AS answers,
        SUM(CASE WHEN candidate_types.source = 'cited' THEN 1 ELSE 0 END) OVER (
            PARTITION BY runs.run_id, runs.benchmark, runs.system, candidate_types.query_id
        ) AS cited,
        SUM(CASE WHEN candidate_types.source = 'cited' THEN 1 ELSE 0 END) OVER (
            PARTITION BY runs.run_id, runs.benchmark, runs.system, candidate_types.query_id
            ORDER BY hits.rank NULLS LAST
        ) AS cited_above
    FROM runs
    INNER JOIN candidate_types ON runs.benchmark = candidate_types.benchmark
    LEFT JOIN hits
        ON runs.run_id = hits.run_id
        AND candidate_types.query_id = hits.query_id
        AND candidate_types.paper_id = hits.paper_id
),
counted AS (
    SELECT
        run_id,
        benchmark,
        system,
        query_id,
        source,
        COUNT(*) AS candidates,
        COUNT(rank) AS candidates_ranked,
        CAST(SUM(CASE WHEN cited_above = 0 THEN 1 ELSE 0 END) AS BIGINT) AS above_first_cited,
        CAST(SUM(CASE WHEN cited_above < cited THEN 1 ELSE 0 END) AS BIGINT) AS above_last_cited,
        CAST(SUM(cited - cited_above) AS BIGINT) AS pairs_above,
        CAST(SUM(cited) AS BIGINT) AS pairs
    FROM ranked
    WHERE source <> 'cited' AND cited > 0 AND answers > 0
    GROUP BY run_id, benchmark, system, query_id, source
),
query_fields AS (
    SELECT corpora.name AS benchmark, benchmark_queries.query_id, benchmark_queries.field
    FROM benchmark_queries
    INNER JOIN corpora ON benchmark_queries.corpus_id = corpora.corpus_id
    UNION ALL
    SELECT sampled_queries.benchmark, sampled_queries.query_id, sampled_queries.field
    FROM sampled_queries
)
SELECT
    counted.run_id,
    counted.benchmark,
    counted.system,
    counted.query_id,
    query_fields.field,
    counted.source,
    counted.candidates,
    counted.candidates_ranked,
    counted.above_first_cited,
    counted.above_last_cited,
    counted.pairs_above,
    counted.pairs,
    CAST(counted.pairs_above AS DOUBLE PRECISION) / counted.pairs AS share_above
FROM counted
LEFT JOIN query_fields
    ON counted.benchmark = query_fields.benchmark
    AND counted.query_id = query_fields.query_id
