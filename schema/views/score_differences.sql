-- By how much two runs of a benchmark differ on a query, by each measure that both were scored by. Each pair of
-- runs stands here in both orders; `subset` is all, or a candidate type.
CREATE VIEW score_differences AS
SELECT
    one.run_id,
    other.run_id AS other_run_id,
    one.benchmark,
    one.system,
    other.system AS other_system,
    one_scores.measure,
    one_scores.subset,
    one_scores.query_id,
    one_scores.value,
    other_scores.value AS other_value,
    one_scores.value - other_scores.value AS difference
FROM runs AS one
INNER JOIN runs AS other ON one.benchmark = other.benchmark AND one.run_id <> other.run_id
INNER JOIN scores AS one_scores ON one.run_id = one_scores.run_id
INNER JOIN scores AS other_scores
    ON other.run_id = other_scores.run_id
    AND one_scores.measure = other_scores.measure
    AND one_scores.subset = other_scores.subset
    AND one_scores.query_id = other_scores.query_id
