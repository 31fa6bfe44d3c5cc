-- A candidate that the query cites is relevant, every other one is not.
SELECT
    constructed_candidates.query_id,
    constructed_candidates.paper_id,
    CASE WHEN constructed_candidates.source = 'cited' THEN 1 ELSE 0 END AS grade
FROM constructed_candidates
WHERE constructed_candidates.benchmark = 'mdcr_constructed'
