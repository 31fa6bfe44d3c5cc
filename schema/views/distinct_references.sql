-- Cited works without those that were merged into another, with the mentions of all that were merged.
CREATE VIEW distinct_references AS
SELECT
    kept.reference_id,
    kept.corpus_id,
    kept.reference_key,
    kept.title,
    kept.abstract,
    kept.year,
    kept.paper_id,
    COUNT(citations.citation_id) AS mentions
FROM cited_references AS kept
LEFT JOIN duplicate_references AS merged ON kept.reference_id = merged.reference_id
LEFT JOIN (
    SELECT
        members.reference_id,
        COALESCE(duplicates.kept_reference_id, members.reference_id) AS kept_reference_id
    FROM cited_references AS members
    LEFT JOIN duplicate_references AS duplicates ON members.reference_id = duplicates.reference_id
) AS grouped ON kept.reference_id = grouped.kept_reference_id
LEFT JOIN citations ON grouped.reference_id = citations.reference_id
WHERE merged.reference_id IS NULL
GROUP BY
    kept.reference_id,
    kept.corpus_id,
    kept.reference_key,
    kept.title,
    kept.abstract,
    kept.year,
    kept.paper_id
