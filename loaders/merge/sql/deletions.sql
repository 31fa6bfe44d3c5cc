-- What a release takes back, and all that hangs on it.

-- name: find_papers
SELECT staged_deletions.position, papers.paper_id AS id
FROM staged_deletions
INNER JOIN papers ON papers.corpus_id = :corpus_id AND staged_deletions.key = papers.source_id

-- name: find_citations
SELECT staged_deletions.position, citations.citation_id AS id
FROM staged_deletions
INNER JOIN citations ON staged_deletions.key = citations.source_reference_id
INNER JOIN cited_references
    ON cited_references.corpus_id = :corpus_id AND citations.reference_id = cited_references.reference_id
UNION ALL
SELECT staged_deletions.position, pending_citations.citation_id AS id
FROM staged_deletions
INNER JOIN pending_citations
    ON pending_citations.corpus_id = :corpus_id
    AND staged_deletions.key = pending_citations.source_reference_id

-- name: papers.identifiers
DELETE FROM paper_identifiers WHERE paper_id IN (SELECT id FROM staged_ids)

-- name: papers.fields
DELETE FROM paper_fields WHERE paper_id IN (SELECT id FROM staged_ids)

-- name: papers.authorships
DELETE FROM authorships WHERE paper_id IN (SELECT id FROM staged_ids)

-- name: papers.sections
DELETE FROM sections WHERE paper_id IN (SELECT id FROM staged_ids)

-- name: papers.sentences
DELETE FROM sentences WHERE paper_id IN (SELECT id FROM staged_ids)

-- name: papers.variants
DELETE FROM paper_variants WHERE paper_id IN (SELECT id FROM staged_ids)

-- name: papers.review_scores
DELETE FROM review_scores WHERE paper_id IN (SELECT id FROM staged_ids)

-- name: papers.labels
DELETE FROM labels WHERE paper_id IN (SELECT id FROM staged_ids)

-- name: papers.duplicates
DELETE FROM duplicate_papers
WHERE paper_id IN (SELECT id FROM staged_ids) OR kept_paper_id IN (SELECT id FROM staged_ids)

-- name: papers.citations
DELETE FROM citations WHERE citing_paper_id IN (SELECT id FROM staged_ids)

-- name: papers.ambiguous
DELETE FROM ambiguous_references WHERE paper_id IN (SELECT id FROM staged_ids)

-- name: papers.references
UPDATE cited_references
SET paper_id = NULL, resolved_by = NULL
WHERE paper_id IN (SELECT id FROM staged_ids)

-- name: papers.judgments
DELETE FROM judgments WHERE paper_id IN (SELECT id FROM staged_ids)

-- name: papers.pool_sources
DELETE FROM pool_sources WHERE paper_id IN (SELECT id FROM staged_ids)

-- name: papers.sentence_selections
-- A query whose paper is gone has no sentences.
DELETE FROM sentence_selections
WHERE EXISTS (
    SELECT 1
    FROM benchmark_queries
    WHERE benchmark_queries.corpus_id = sentence_selections.corpus_id
        AND benchmark_queries.query_id = sentence_selections.query_id
        AND benchmark_queries.paper_id IN (SELECT id FROM staged_ids)
)

-- name: papers.queries
UPDATE benchmark_queries SET paper_id = NULL WHERE paper_id IN (SELECT id FROM staged_ids)

-- name: papers.papers
DELETE FROM papers WHERE paper_id IN (SELECT id FROM staged_ids)

-- name: citations.citations
DELETE FROM citations WHERE citation_id IN (SELECT id FROM staged_ids)

-- name: citations.pending
DELETE FROM pending_citations WHERE citation_id IN (SELECT id FROM staged_ids)
