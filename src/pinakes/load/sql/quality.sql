-- What a corpus holds and lacks, one row a block.

-- name: papers
SELECT
    COUNT(*) AS papers,
    COUNT(*) - COUNT(title) AS papers_without_title,
    COUNT(*) - COUNT(abstract) AS papers_without_abstract,
    COUNT(*) - COUNT(year) AS papers_without_year,
    COUNT(
        CASE
            WHEN
                year < :first_year
                OR year > (SELECT MAX(EXTRACT(YEAR FROM started_at)) + 1 FROM load_batches)
                THEN 1
        END
    ) AS papers_with_odd_year
FROM papers
WHERE corpus_id = :corpus_id

-- name: duplicates
SELECT COUNT(*) AS papers_in_duplicate
FROM duplicate_papers
INNER JOIN papers ON duplicate_papers.paper_id = papers.paper_id
WHERE papers.corpus_id = :corpus_id

-- name: citations
SELECT
    COUNT(*) AS citations,
    (SELECT COUNT(*) FROM pending_citations WHERE corpus_id = :corpus_id) AS citations_pending,
    COUNT(*) - COUNT(cited_references.paper_id) AS citations_dangling
FROM citations
INNER JOIN cited_references ON citations.reference_id = cited_references.reference_id
WHERE cited_references.corpus_id = :corpus_id

-- name: ambiguous
SELECT COUNT(DISTINCT ambiguous_references.reference_id) AS references_ambiguous
FROM ambiguous_references
INNER JOIN cited_references ON ambiguous_references.reference_id = cited_references.reference_id
WHERE cited_references.corpus_id = :corpus_id
