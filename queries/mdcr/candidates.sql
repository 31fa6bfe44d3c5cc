-- A query's pool, each candidate once and under one type (the view candidate_types says which).
SELECT
    candidate_types.query_id,
    candidate_types.paper_id,
    candidate_types.source
FROM candidate_types
WHERE candidate_types.benchmark = 'mdcr'
