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
    COALESCE(counted.mentions, 0) AS mentions
FROM cited_references AS kept
LEFT JOIN duplicate_references AS merged ON kept.reference_id = merged.reference_id
LEFT JOIN (
    SELECT
        COALESCE(duplicates.kept_reference_id, citations.reference_id) AS reference_id,
        COUNT(*) AS mentions
    FROM citations
    LEFT JOIN duplicate_references AS duplicates ON citations.reference_id = duplicates.reference_id
    GROUP BY COALESCE(duplicates.kept_reference_id, citations.reference_id)
) AS counted ON kept.reference_id = counted.reference_id
WHERE merged.reference_id IS NULL
