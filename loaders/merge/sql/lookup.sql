-- The ids of staged keys that are there already.

-- name: papers
SELECT staged_keys.position, papers.paper_id AS id
FROM staged_keys
INNER JOIN papers ON papers.corpus_id = :corpus_id AND staged_keys.key = papers.source_id

-- name: authors
SELECT staged_keys.position, authors.author_id AS id
FROM staged_keys
INNER JOIN authors ON authors.corpus_id = :corpus_id AND staged_keys.key = authors.source_id

-- name: cited_references
SELECT staged_keys.position, cited_references.reference_id AS id
FROM staged_keys
INNER JOIN cited_references
    ON cited_references.corpus_id = :corpus_id AND staged_keys.key = cited_references.reference_key

-- name: queries
-- A query has no number of its own: every one that is there counts as 0.
SELECT staged_keys.position, CAST(0 AS BIGINT) AS id
FROM staged_keys
INNER JOIN benchmark_queries
    ON benchmark_queries.corpus_id = :corpus_id AND staged_keys.key = benchmark_queries.query_id
