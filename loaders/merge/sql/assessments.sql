-- Queries, judgments, pools and labels that are there already, compared with staged ones, which carry our
-- paper_id.

-- name: create_queries
INSERT INTO benchmark_queries (corpus_id, query_id, batch_id)
SELECT CAST(:corpus_id AS INTEGER), query_id, CAST(:batch_id AS BIGINT)
FROM staged_queries
ON CONFLICT DO NOTHING

-- name: known_queries
SELECT
    staged_queries.position,
    benchmark_queries.paper_id IS DISTINCT FROM staged_queries.paper_id
    OR benchmark_queries.text IS DISTINCT FROM staged_queries.text
    OR benchmark_queries.description IS DISTINCT FROM staged_queries.description
    OR benchmark_queries.narrative IS DISTINCT FROM staged_queries.narrative
    OR benchmark_queries.facet IS DISTINCT FROM staged_queries.facet
    OR benchmark_queries.field IS DISTINCT FROM staged_queries.field
    OR benchmark_queries.fold IS DISTINCT FROM staged_queries.fold AS is_changed
FROM staged_queries
INNER JOIN benchmark_queries
    ON benchmark_queries.corpus_id = :corpus_id AND staged_queries.query_id = benchmark_queries.query_id

-- name: update_queries
UPDATE benchmark_queries
SET
    paper_id = staged_queries.paper_id,
    text = staged_queries.text,
    description = staged_queries.description,
    narrative = staged_queries.narrative,
    facet = staged_queries.facet,
    field = staged_queries.field,
    fold = staged_queries.fold,
    batch_id = :batch_id
FROM staged_queries
WHERE benchmark_queries.corpus_id = :corpus_id
    AND benchmark_queries.query_id = staged_queries.query_id
    AND (
        benchmark_queries.paper_id IS DISTINCT FROM staged_queries.paper_id
        OR benchmark_queries.text IS DISTINCT FROM staged_queries.text
        OR benchmark_queries.description IS DISTINCT FROM staged_queries.description
        OR benchmark_queries.narrative IS DISTINCT FROM staged_queries.narrative
        OR benchmark_queries.facet IS DISTINCT FROM staged_queries.facet
        OR benchmark_queries.field IS DISTINCT FROM staged_queries.field
        OR benchmark_queries.fold IS DISTINCT FROM staged_queries.fold
    )

-- name: known_judgments
SELECT staged_judgments.position, judgments.grade <> staged_judgments.grade AS is_changed
FROM staged_judgments
INNER JOIN judgments
    ON judgments.corpus_id = :corpus_id
    AND staged_judgments.query_id = judgments.query_id
    AND staged_judgments.paper_id = judgments.paper_id
    AND staged_judgments.assessor = judgments.assessor
    AND staged_judgments.split = judgments.split

-- name: update_judgments
UPDATE judgments
SET grade = staged_judgments.grade, batch_id = :batch_id
FROM staged_judgments
WHERE judgments.corpus_id = :corpus_id
    AND judgments.query_id = staged_judgments.query_id
    AND judgments.paper_id = staged_judgments.paper_id
    AND judgments.assessor = staged_judgments.assessor
    AND judgments.split = staged_judgments.split
    AND judgments.grade <> staged_judgments.grade

-- name: known_pool_sources
SELECT staged_pool_sources.position, FALSE AS is_changed
FROM staged_pool_sources
INNER JOIN pool_sources
    ON pool_sources.corpus_id = :corpus_id
    AND staged_pool_sources.query_id = pool_sources.query_id
    AND staged_pool_sources.paper_id = pool_sources.paper_id
    AND staged_pool_sources.source = pool_sources.source

-- name: known_labels
SELECT
    staged_labels.position,
    labels.value IS DISTINCT FROM staged_labels.value
    OR labels.quality <> staged_labels.quality AS is_changed
FROM staged_labels
INNER JOIN labels
    ON staged_labels.task = labels.task
    AND staged_labels.paper_id = labels.paper_id
    AND staged_labels.split = labels.split
    AND staged_labels.label = labels.label

-- name: update_labels
UPDATE labels
SET value = staged_labels.value, quality = staged_labels.quality
FROM staged_labels
WHERE labels.task = staged_labels.task
    AND labels.paper_id = staged_labels.paper_id
    AND labels.split = staged_labels.split
    AND labels.label = staged_labels.label
    AND (labels.value IS DISTINCT FROM staged_labels.value OR labels.quality <> staged_labels.quality)
