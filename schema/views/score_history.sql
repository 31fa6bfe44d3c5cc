-- Each value of a subset that an evaluation gave, from the evaluation on in which it was new: a value that stays is no
-- new row. Order by evaluation_id, which rises also where a clock went back. Runs of one `line` have the same system,
-- mode and settings; is_newest says whether the run was the newest of them.
CREATE VIEW score_history AS
SELECT
    evaluations.evaluation_id,
    evaluations.evaluated_at,
    evaluations.benchmark,
    evaluations.system,
    evaluations.mode,
    evaluations.line,
    evaluations.run_id,
    evaluations.is_newest,
    evaluation_scores.measure,
    evaluation_scores.subset,
    evaluation_scores.value,
    evaluation_scores.queries_expected,
    evaluation_scores.queries_answered,
    evaluations.code_version,
    evaluations.code_digest,
    evaluations.view_digest,
    evaluations.judgments_digest,
    evaluations.judgments,
    evaluations.run_digest,
    evaluations.dataset_digest,
    evaluations.encoder_revision
FROM evaluation_scores
INNER JOIN evaluations ON evaluation_scores.evaluation_id = evaluations.evaluation_id
