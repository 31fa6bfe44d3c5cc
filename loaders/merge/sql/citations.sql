-- Cited works and mentions that are there already, compared with staged ones.

-- name: fill_references
UPDATE cited_references
SET
    title = COALESCE(cited_references.title, staged_references.title),
    abstract = COALESCE(cited_references.abstract, staged_references.abstract),
    year = COALESCE(cited_references.year, staged_references.year)
FROM staged_references
WHERE cited_references.reference_id = staged_references.reference_id
    AND (
        (cited_references.title IS NULL AND staged_references.title IS NOT NULL)
        OR (cited_references.abstract IS NULL AND staged_references.abstract IS NOT NULL)
        OR (cited_references.year IS NULL AND staged_references.year IS NOT NULL)
    )

-- name: insert_reference_identifiers
INSERT INTO reference_identifiers (reference_id, scheme, identifier)
SELECT reference_id, scheme, identifier
FROM staged_reference_identifiers
ON CONFLICT DO NOTHING

-- name: repeated_citations
SELECT DISTINCT staged_citations.position
FROM staged_citations
INNER JOIN citations
    ON staged_citations.citing_paper_id = citations.citing_paper_id
    AND staged_citations.reference_id = citations.reference_id
    AND staged_citations.source_reference_id IS NOT DISTINCT FROM citations.source_reference_id
    AND staged_citations.context IS NOT DISTINCT FROM citations.context
    AND staged_citations.context_start IS NOT DISTINCT FROM citations.context_start
WHERE citations.batch_id NOT IN (
    SELECT batch_id
    FROM load_batches
    WHERE corpus_id = :corpus_id
        AND loader = :loader
        AND role = :role
        AND file_digest = :file_digest
        AND options_digest = :options_digest
        AND round = :round
)

-- name: repeated_pending
SELECT DISTINCT staged_citations.position
FROM staged_citations
INNER JOIN pending_citations
    ON pending_citations.corpus_id = :corpus_id
    AND staged_citations.citing_source_id = pending_citations.citing_source_id
    AND staged_citations.reference_id = pending_citations.reference_id
    AND staged_citations.source_reference_id IS NOT DISTINCT FROM pending_citations.source_reference_id
    AND staged_citations.context IS NOT DISTINCT FROM pending_citations.context
    AND staged_citations.context_start IS NOT DISTINCT FROM pending_citations.context_start
WHERE pending_citations.batch_id NOT IN (
    SELECT batch_id
    FROM load_batches
    WHERE corpus_id = :corpus_id
        AND loader = :loader
        AND role = :role
        AND file_digest = :file_digest
        AND options_digest = :options_digest
        AND round = :round
)
