-- Papers that are there already, compared with staged ones, which carry our paper_id.

-- name: changed_papers
SELECT papers.paper_id
FROM papers
INNER JOIN staged_papers ON papers.paper_id = staged_papers.paper_id
WHERE (
        :title
        AND papers.title IS DISTINCT FROM staged_papers.title
        AND (:nulls_count OR staged_papers.title IS NOT NULL)
    )
    OR (
        :abstract
        AND papers.abstract IS DISTINCT FROM staged_papers.abstract
        AND (:nulls_count OR staged_papers.abstract IS NOT NULL)
    )
    OR (
        :year
        AND papers.year IS DISTINCT FROM staged_papers.year
        AND (:nulls_count OR staged_papers.year IS NOT NULL)
    )
    OR (
        :venue
        AND papers.venue IS DISTINCT FROM staged_papers.venue
        AND (:nulls_count OR staged_papers.venue IS NOT NULL)
    )
    OR (
        :citation_count
        AND papers.citation_count IS DISTINCT FROM staged_papers.citation_count
        AND (:nulls_count OR staged_papers.citation_count IS NOT NULL)
    )

-- name: changed_identifiers
SELECT paper_id
FROM (
    SELECT paper_id, scheme, identifier, 1 AS side
    FROM staged_identifiers
    UNION ALL
    SELECT held.paper_id, held.scheme, held.identifier, -1 AS side
    FROM paper_identifiers AS held
    INNER JOIN staged_papers ON held.paper_id = staged_papers.paper_id
) AS both_sides
GROUP BY paper_id, scheme, identifier
HAVING SUM(side) <> 0

-- name: changed_fields
SELECT paper_id
FROM (
    SELECT paper_id, assigned_by, field, 1 AS side
    FROM staged_fields
    UNION ALL
    SELECT held.paper_id, held.assigned_by, held.field, -1 AS side
    FROM paper_fields AS held
    INNER JOIN staged_papers ON held.paper_id = staged_papers.paper_id
) AS both_sides
GROUP BY paper_id, assigned_by, field
HAVING SUM(side) <> 0

-- name: changed_authorships
SELECT paper_id
FROM (
    SELECT paper_id, position, author_id, block, 1 AS side
    FROM staged_authorships
    UNION ALL
    SELECT held.paper_id, held.position, held.author_id, held.block, -1 AS side
    FROM authorships AS held
    INNER JOIN staged_papers ON held.paper_id = staged_papers.paper_id
) AS both_sides
GROUP BY paper_id, position, author_id, block
HAVING SUM(side) <> 0

-- name: changed_sentences
SELECT paper_id
FROM (
    SELECT paper_id, section_number, position, text, facet, source_label, 1 AS side
    FROM staged_sentences
    UNION ALL
    SELECT
        held.paper_id, held.section_number, held.position, held.text, held.facet, held.source_label, -1 AS side
    FROM sentences AS held
    INNER JOIN staged_papers ON held.paper_id = staged_papers.paper_id
) AS both_sides
GROUP BY paper_id, section_number, position, text, facet, source_label
HAVING SUM(side) <> 0

-- name: changed_sections
SELECT paper_id
FROM (
    SELECT paper_id, section_number, title, text, 1 AS side
    FROM staged_sections
    UNION ALL
    SELECT held.paper_id, held.section_number, held.title, held.text, -1 AS side
    FROM sections AS held
    INNER JOIN staged_papers ON held.paper_id = staged_papers.paper_id
) AS both_sides
GROUP BY paper_id, section_number, title, text
HAVING SUM(side) <> 0

-- name: changed_variants
SELECT paper_id
FROM (
    SELECT paper_id, code, title, abstract, 1 AS side
    FROM staged_variants
    UNION ALL
    SELECT held.paper_id, held.code, held.title, held.abstract, -1 AS side
    FROM paper_variants AS held
    INNER JOIN staged_papers ON held.paper_id = staged_papers.paper_id
) AS both_sides
GROUP BY paper_id, code, title, abstract
HAVING SUM(side) <> 0

-- name: changed_review_scores
SELECT paper_id
FROM (
    SELECT paper_id, review_id, aspect, score, 1 AS side
    FROM staged_review_scores
    UNION ALL
    SELECT held.paper_id, held.review_id, held.aspect, held.score, -1 AS side
    FROM review_scores AS held
    INNER JOIN staged_papers ON held.paper_id = staged_papers.paper_id
) AS both_sides
GROUP BY paper_id, review_id, aspect, score
HAVING SUM(side) <> 0

-- name: changed_citations
SELECT paper_id
FROM (
    SELECT
        paper_id, reference_id, source_reference_id, context, context_start, context_end, intents,
        is_influential, 1 AS side
    FROM staged_citations
    UNION ALL
    SELECT
        held.citing_paper_id AS paper_id, held.reference_id, held.source_reference_id, held.context,
        held.context_start, held.context_end, held.intents, held.is_influential, -1 AS side
    FROM citations AS held
    INNER JOIN staged_papers ON held.citing_paper_id = staged_papers.paper_id
    WHERE held.batch_id IN (
        SELECT load_batches.batch_id
        FROM load_batches
        WHERE load_batches.corpus_id = :corpus_id
            AND load_batches.loader = :loader
            AND load_batches.role = :role
    )
) AS both_sides
GROUP BY
    paper_id, reference_id, source_reference_id, context, context_start, context_end, intents, is_influential
HAVING SUM(side) <> 0

-- name: update_papers
UPDATE papers
SET
    title = CASE
        WHEN :title AND (:nulls_count OR staged_papers.title IS NOT NULL) THEN staged_papers.title
        ELSE papers.title
    END,
    abstract = CASE
        WHEN :abstract AND (:nulls_count OR staged_papers.abstract IS NOT NULL) THEN staged_papers.abstract
        ELSE papers.abstract
    END,
    year = CASE
        WHEN :year AND (:nulls_count OR staged_papers.year IS NOT NULL) THEN staged_papers.year
        ELSE papers.year
    END,
    venue = CASE
        WHEN :venue AND (:nulls_count OR staged_papers.venue IS NOT NULL) THEN staged_papers.venue
        ELSE papers.venue
    END,
    citation_count = CASE
        WHEN :citation_count AND (:nulls_count OR staged_papers.citation_count IS NOT NULL) THEN staged_papers.citation_count
        ELSE papers.citation_count
    END,
    batch_id = :batch_id
FROM staged_papers
WHERE papers.paper_id = staged_papers.paper_id

-- name: fill_papers
UPDATE papers
SET
    title = COALESCE(papers.title, staged_papers.title),
    abstract = COALESCE(papers.abstract, staged_papers.abstract),
    year = COALESCE(papers.year, staged_papers.year),
    venue = COALESCE(papers.venue, staged_papers.venue),
    citation_count = COALESCE(papers.citation_count, staged_papers.citation_count),
    batch_id = :batch_id
FROM staged_papers
WHERE papers.paper_id = staged_papers.paper_id
    AND (
        (papers.title IS NULL AND staged_papers.title IS NOT NULL)
        OR (papers.abstract IS NULL AND staged_papers.abstract IS NOT NULL)
        OR (papers.year IS NULL AND staged_papers.year IS NOT NULL)
        OR (papers.venue IS NULL AND staged_papers.venue IS NOT NULL)
        OR (papers.citation_count IS NULL AND staged_papers.citation_count IS NOT NULL)
    )

-- name: add_identifiers
INSERT INTO paper_identifiers (paper_id, scheme, identifier)
SELECT paper_id, scheme, identifier
FROM staged_identifiers
WHERE NOT EXISTS (
    SELECT 1
    FROM paper_identifiers AS held
    WHERE held.paper_id = staged_identifiers.paper_id
        AND held.scheme = staged_identifiers.scheme
        AND held.identifier = staged_identifiers.identifier
)

-- name: add_fields
INSERT INTO paper_fields (paper_id, assigned_by, field)
SELECT paper_id, assigned_by, field
FROM staged_fields
WHERE NOT EXISTS (
    SELECT 1
    FROM paper_fields AS held
    WHERE held.paper_id = staged_fields.paper_id
        AND held.assigned_by = staged_fields.assigned_by
        AND held.field = staged_fields.field
)

-- name: delete_identifiers
DELETE FROM paper_identifiers WHERE paper_id IN (SELECT paper_id FROM staged_papers)

-- name: delete_fields
DELETE FROM paper_fields WHERE paper_id IN (SELECT paper_id FROM staged_papers)

-- name: delete_authorships
DELETE FROM authorships WHERE paper_id IN (SELECT paper_id FROM staged_papers)

-- name: delete_sentences
DELETE FROM sentences WHERE paper_id IN (SELECT paper_id FROM staged_papers)

-- name: delete_sections
DELETE FROM sections WHERE paper_id IN (SELECT paper_id FROM staged_papers)

-- name: delete_variants
DELETE FROM paper_variants WHERE paper_id IN (SELECT paper_id FROM staged_papers)

-- name: delete_review_scores
DELETE FROM review_scores WHERE paper_id IN (SELECT paper_id FROM staged_papers)

-- name: delete_citations
-- The mentions that files of this role have brought: a full text's are not the metadata's to replace.
DELETE FROM citations
WHERE citing_paper_id IN (SELECT paper_id FROM staged_papers)
    AND batch_id IN (
        SELECT load_batches.batch_id
        FROM load_batches
        WHERE load_batches.corpus_id = :corpus_id
            AND load_batches.loader = :loader
            AND load_batches.role = :role
    )
