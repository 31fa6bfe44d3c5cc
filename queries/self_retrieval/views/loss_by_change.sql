-- What is lost in retrieval, by how much of the text was changed, in tenths: `tenth` 0 is no change at all, 1 is
-- up to 0.1, and so on. `loss` is 1 - MRR, `not_first` the share of neighbours that do not find their original
-- first. A neighbour without a representation is lost whole.
WITH placed AS (
    SELECT
        self_ranks.run_id,
        self_ranks.code,
        CAST(CEIL(CAST(self_ranks.changed * 10 AS DECIMAL(12, 9))) AS INTEGER) AS tenth,
        self_ranks.changed,
        COALESCE(1.0 - CAST(1 AS DOUBLE PRECISION) / self_ranks."rank", 1.0) AS loss,
        CASE WHEN self_ranks."rank" = 1 THEN 0.0 ELSE 1.0 END AS not_first
    FROM self_ranks
    WHERE self_ranks.scheme = 'NN' AND self_ranks.changed IS NOT NULL
)

SELECT
    runs.run_id,
    runs.corpus,
    runs.system,
    runs.mode,
    placed.code,
    COALESCE(codes.category, 'own') AS category,
    placed.tenth,
    COUNT(*) AS neighbours,
    AVG(placed.changed) AS mean_changed,
    AVG(placed.loss) AS loss,
    AVG(placed.not_first) AS not_first
FROM placed
INNER JOIN runs ON placed.run_id = runs.run_id
LEFT JOIN self_retrieval.codes AS codes ON placed.code = codes.code
GROUP BY
    runs.run_id, runs.corpus, runs.system, runs.mode, placed.code, COALESCE(codes.category, 'own'), placed.tenth
