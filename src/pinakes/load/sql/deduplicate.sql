-- Papers and cited works of a corpus that are one work.

-- name: undo_papers
DELETE FROM duplicate_papers
WHERE paper_id IN (SELECT papers.paper_id FROM papers WHERE papers.corpus_id = :corpus_id)

-- name: undo_references
DELETE FROM duplicate_references
WHERE reference_id IN (
    SELECT cited_references.reference_id FROM cited_references WHERE cited_references.corpus_id = :corpus_id
)

-- name: papers
-- The paper with an abstract stands for the others, then the one that came first.
WITH titles AS (
    SELECT
        papers.paper_id,
        CASE WHEN papers.abstract IS NULL THEN 1 ELSE 0 END AS lacks_abstract,
        paper_title_keys.title_key
    FROM papers
    INNER JOIN paper_title_keys ON papers.paper_id = paper_title_keys.paper_id
    WHERE papers.corpus_id = :corpus_id
),
grouped AS (
    SELECT
        paper_id,
        FIRST_VALUE(paper_id) OVER (PARTITION BY title_key ORDER BY lacks_abstract, paper_id) AS kept_paper_id
    FROM titles
    WHERE LENGTH(title_key) >= :min_characters
)
SELECT paper_id, kept_paper_id, 'title' AS matched_by
FROM grouped
WHERE paper_id <> kept_paper_id
ORDER BY paper_id

-- name: shared_keys
-- What cited works share with another one: a paper, an identifier, a title. Neither an identifier nor a
-- title counts that stands with several papers.
WITH works AS (
    SELECT
        cited_references.reference_id,
        COALESCE(duplicate_papers.kept_paper_id, cited_references.paper_id) AS paper_id,
        ROW_NUMBER() OVER (
            ORDER BY
                CASE WHEN cited_references.paper_id IS NULL THEN 1 ELSE 0 END,
                CASE WHEN cited_references.title IS NULL THEN 1 ELSE 0 END,
                cited_references.reference_id
        ) AS rank,
        reference_title_keys.title_key
    FROM cited_references
    LEFT JOIN reference_title_keys ON cited_references.reference_id = reference_title_keys.reference_id
    LEFT JOIN duplicate_papers ON cited_references.paper_id = duplicate_papers.paper_id
    WHERE cited_references.corpus_id = :corpus_id
),
named AS (
    SELECT reference_id, paper_id, rank, 'paper' AS kind, 'paper ' || CAST(paper_id AS TEXT) AS key
    FROM works
    WHERE paper_id IS NOT NULL
    UNION ALL
    SELECT
        works.reference_id,
        works.paper_id,
        works.rank,
        'identifier' AS kind,
        reference_identifiers.scheme || ' ' || reference_identifiers.identifier AS key
    FROM works
    INNER JOIN reference_identifiers ON works.reference_id = reference_identifiers.reference_id
    UNION ALL
    SELECT reference_id, paper_id, rank, 'title' AS kind, 'title ' || title_key AS key
    FROM works
    WHERE LENGTH(title_key) >= :min_characters
),
shared AS (
    SELECT kind, key, ROW_NUMBER() OVER () AS key_number
    FROM named
    GROUP BY kind, key
    HAVING COUNT(*) > 1 AND COUNT(DISTINCT paper_id) <= 1
)
SELECT
    named.reference_id,
    named.rank,
    shared.key_number,
    CASE named.kind WHEN 'paper' THEN 0 WHEN 'identifier' THEN 1 ELSE 2 END AS kind
FROM named
INNER JOIN shared ON named.kind = shared.kind AND named.key = shared.key
