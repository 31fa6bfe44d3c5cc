-- Which papers the cited works of a corpus are.

-- name: has_references
SELECT COUNT(*)
FROM (SELECT reference_id FROM cited_references WHERE corpus_id = :corpus_id LIMIT 1) AS first_one

-- name: has_pending
SELECT COUNT(*)
FROM (SELECT citation_id FROM pending_citations WHERE corpus_id = :corpus_id LIMIT 1) AS first_one

-- name: insert_pending
INSERT INTO citations
    (
        citation_id, citing_paper_id, reference_id, source_reference_id, context, context_start, context_end,
        intents, is_influential, batch_id
    )
SELECT
    pending_citations.citation_id,
    papers.paper_id,
    pending_citations.reference_id,
    pending_citations.source_reference_id,
    pending_citations.context,
    pending_citations.context_start,
    pending_citations.context_end,
    pending_citations.intents,
    pending_citations.is_influential,
    pending_citations.batch_id
FROM pending_citations
INNER JOIN papers
    ON papers.corpus_id = :corpus_id AND pending_citations.citing_source_id = papers.source_id
WHERE pending_citations.corpus_id = :corpus_id
    AND NOT EXISTS (
        SELECT 1
        FROM citations AS known
        WHERE known.citing_paper_id = papers.paper_id
            AND known.reference_id = pending_citations.reference_id
            AND known.source_reference_id IS NOT DISTINCT FROM pending_citations.source_reference_id
            AND known.context IS NOT DISTINCT FROM pending_citations.context
            AND known.context_start IS NOT DISTINCT FROM pending_citations.context_start
    )

-- name: delete_pending
DELETE FROM pending_citations
WHERE corpus_id = :corpus_id
    AND citing_source_id IN (SELECT source_id FROM papers WHERE papers.corpus_id = :corpus_id)

-- name: by_source_id
-- What an id has told stays: a source's id is one paper's. Where that is removed, its cited work is cleared.
-- In the order of the rows that change: in any other, DuckDB takes time that grows with the square of their number.
UPDATE cited_references
SET paper_id = found.paper_id, resolved_by = 'source_id'
FROM (
    SELECT cited_references.reference_id, papers.paper_id
    FROM cited_references
    INNER JOIN papers ON cited_references.reference_key = papers.source_id
    WHERE papers.corpus_id = :corpus_id
        AND cited_references.corpus_id = :corpus_id
        AND cited_references.reference_id BETWEEN :first_id AND :last_id
        AND cited_references.resolved_by IS DISTINCT FROM 'source_id'
    ORDER BY cited_references.reference_id
) AS found
WHERE cited_references.reference_id = found.reference_id

-- name: has_matchable
SELECT COUNT(*)
FROM (
    SELECT reference_id
    FROM cited_references
    WHERE corpus_id = :corpus_id
        AND resolved_by IS DISTINCT FROM 'source_id'
        AND (
            title IS NOT NULL
            OR paper_id IS NOT NULL
            OR reference_id IN (SELECT reference_id FROM reference_identifiers)
        )
    LIMIT 1
) AS first_one

-- name: create_matches
CREATE TEMPORARY TABLE staged_matches (
    reference_id BIGINT, paper_id BIGINT, matched_by TEXT COLLATE "C", is_sure BOOLEAN
)

-- name: insert_matches
-- Every paper that a cited work may be, a merged paper under the one that stands for it; by title only where
-- no identifier answers.
INSERT INTO staged_matches (reference_id, paper_id, matched_by, is_sure)
WITH wanted AS (
    SELECT reference_id, year
    FROM cited_references
    WHERE corpus_id = :corpus_id AND resolved_by IS DISTINCT FROM 'source_id'
),
by_identifier AS (
    SELECT DISTINCT
        wanted.reference_id,
        COALESCE(duplicate_papers.kept_paper_id, papers.paper_id) AS paper_id
    FROM wanted
    INNER JOIN reference_identifiers ON wanted.reference_id = reference_identifiers.reference_id
    INNER JOIN paper_identifiers
        ON reference_identifiers.scheme = paper_identifiers.scheme
        AND reference_identifiers.identifier = paper_identifiers.identifier
    INNER JOIN papers ON paper_identifiers.paper_id = papers.paper_id
    LEFT JOIN duplicate_papers ON papers.paper_id = duplicate_papers.paper_id
    WHERE papers.corpus_id = :corpus_id
),
wanted_titles AS (
    SELECT wanted.reference_id, wanted.year, reference_title_keys.title_key
    FROM wanted
    INNER JOIN reference_title_keys ON wanted.reference_id = reference_title_keys.reference_id
    WHERE LENGTH(reference_title_keys.title_key) >= :min_characters
        AND wanted.reference_id NOT IN (SELECT by_identifier.reference_id FROM by_identifier)
),
paper_titles AS (
    SELECT papers.paper_id, papers.year, paper_title_keys.title_key
    FROM papers
    INNER JOIN paper_title_keys ON papers.paper_id = paper_title_keys.paper_id
    WHERE papers.corpus_id = :corpus_id
),
by_title AS (
    SELECT
        wanted_titles.reference_id,
        COALESCE(duplicate_papers.kept_paper_id, paper_titles.paper_id) AS paper_id,
        MAX(
            CASE
                WHEN ABS(COALESCE(wanted_titles.year - paper_titles.year, 0)) <= :years_apart THEN 1
                ELSE 0
            END
        ) AS is_compatible
    FROM wanted_titles
    INNER JOIN paper_titles ON wanted_titles.title_key = paper_titles.title_key
    LEFT JOIN duplicate_papers ON paper_titles.paper_id = duplicate_papers.paper_id
    GROUP BY
        wanted_titles.reference_id,
        COALESCE(duplicate_papers.kept_paper_id, paper_titles.paper_id)
),
matches AS (
    SELECT reference_id, paper_id, 'identifier' AS matched_by, TRUE AS is_compatible
    FROM by_identifier
    UNION ALL
    SELECT reference_id, paper_id, 'title' AS matched_by, is_compatible = 1 AS is_compatible
    FROM by_title
)
SELECT
    reference_id,
    paper_id,
    matched_by,
    COUNT(*) OVER (PARTITION BY reference_id) = 1 AND is_compatible AS is_sure
FROM matches

-- name: forget
UPDATE cited_references
SET paper_id = NULL, resolved_by = NULL
WHERE corpus_id = :corpus_id
    AND resolved_by IN ('identifier', 'title')
    AND reference_id NOT IN (SELECT staged_matches.reference_id FROM staged_matches WHERE staged_matches.is_sure)

-- name: update
-- In the order of the rows that change, as above.
UPDATE cited_references
SET paper_id = sure.paper_id, resolved_by = sure.matched_by
FROM (
    SELECT staged_matches.reference_id, staged_matches.paper_id, staged_matches.matched_by
    FROM staged_matches
    WHERE staged_matches.is_sure
    ORDER BY staged_matches.reference_id
) AS sure
WHERE cited_references.reference_id = sure.reference_id
    AND (
        cited_references.paper_id IS DISTINCT FROM sure.paper_id
        OR cited_references.resolved_by IS DISTINCT FROM sure.matched_by
    )

-- name: insert_ambiguous
INSERT INTO ambiguous_references (reference_id, paper_id, matched_by)
SELECT reference_id, paper_id, matched_by
FROM staged_matches
WHERE NOT is_sure
ORDER BY reference_id, paper_id

-- name: drop_matches
DROP TABLE staged_matches

-- name: delete_ambiguous
DELETE FROM ambiguous_references
WHERE reference_id IN (SELECT reference_id FROM cited_references WHERE corpus_id = :corpus_id)
