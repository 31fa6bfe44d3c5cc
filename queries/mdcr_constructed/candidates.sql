-- A query's pool: five papers that it cites, and ten of each other type.
SELECT
    constructed_candidates.query_id,
    constructed_candidates.paper_id,
    constructed_candidates.source
FROM constructed_candidates
WHERE constructed_candidates.benchmark = 'mdcr_constructed'
