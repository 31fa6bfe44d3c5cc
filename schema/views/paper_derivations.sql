-- The derived rows of each paper by producer, and whether they are of its text as it is now.
CREATE VIEW paper_derivations AS
WITH derived AS (
    SELECT
        'paper_variants' AS table_name, producer, paper_id, 0 AS section_number, text_digest,
        COUNT(*) AS row_count
    FROM paper_variants
    WHERE text_digest IS NOT NULL
    GROUP BY producer, paper_id, text_digest
    UNION ALL
    SELECT
        'absent_variants' AS table_name, producer, paper_id, 0 AS section_number, text_digest,
        COUNT(*) AS row_count
    FROM absent_variants
    WHERE text_digest IS NOT NULL
    GROUP BY producer, paper_id, text_digest
    UNION ALL
    SELECT 'text_analyses' AS table_name, producer, paper_id, 0 AS section_number, text_digest, 1 AS row_count
    FROM text_analyses
    WHERE text_digest IS NOT NULL
    UNION ALL
    SELECT 'sentences' AS table_name, producer, paper_id, section_number, text_digest, COUNT(*) AS row_count
    FROM sentences
    WHERE text_digest IS NOT NULL
    GROUP BY producer, paper_id, section_number, text_digest
    UNION ALL
    SELECT 'labels' AS table_name, producer, paper_id, 0 AS section_number, text_digest, COUNT(*) AS row_count
    FROM labels
    WHERE text_digest IS NOT NULL
    GROUP BY producer, paper_id, text_digest
)

SELECT
    papers.corpus_id,
    derived.table_name,
    derived.producer,
    derived.paper_id,
    derived.section_number,
    derived.row_count,
    derived.text_digest IS DISTINCT FROM text_digests.text_digest AS is_stale
FROM derived
INNER JOIN papers ON derived.paper_id = papers.paper_id
LEFT JOIN text_digests
    ON derived.paper_id = text_digests.paper_id AND derived.section_number = text_digests.section_number
