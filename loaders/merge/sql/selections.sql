-- Selections of sentences that are there already, compared with staged ones.

-- name: unknown_sentences
SELECT
    staged_sentence_selections.row_number,
    staged_sentence_selections.query_id,
    staged_sentence_selections.position,
    benchmark_queries.query_id IS NULL AS is_unknown,
    benchmark_queries.paper_id IS NULL AS is_text
FROM staged_sentence_selections
LEFT JOIN benchmark_queries
    ON benchmark_queries.corpus_id = :corpus_id
    AND staged_sentence_selections.query_id = benchmark_queries.query_id
LEFT JOIN distinct_sentences AS sentences
    ON benchmark_queries.paper_id = sentences.paper_id
    AND sentences.section_number = 0
    AND staged_sentence_selections.position = sentences.position
WHERE sentences.paper_id IS NULL
ORDER BY staged_sentence_selections.row_number, staged_sentence_selections.position

-- name: known_selections
WITH staged AS (
    SELECT
        row_number,
        query_id,
        selection,
        STRING_AGG(CAST(position AS TEXT), ' ' ORDER BY position) AS positions
    FROM staged_sentence_selections
    GROUP BY row_number, query_id, selection
),

held AS (
    SELECT query_id, selection, STRING_AGG(CAST(position AS TEXT), ' ' ORDER BY position) AS positions
    FROM sentence_selections
    WHERE corpus_id = :corpus_id
    GROUP BY query_id, selection
)

SELECT staged.row_number, staged.positions <> held.positions AS is_changed
FROM staged
INNER JOIN held ON staged.query_id = held.query_id AND staged.selection = held.selection
ORDER BY staged.row_number

-- name: delete_positions
-- Those of a staged selection that it no longer has. What stays is not written again: an index of DuckDB
-- refuses a key that its own transaction has deleted.
DELETE FROM sentence_selections
WHERE corpus_id = :corpus_id
    AND EXISTS (
        SELECT 1
        FROM staged_sentence_selections
        WHERE staged_sentence_selections.query_id = sentence_selections.query_id
            AND staged_sentence_selections.selection = sentence_selections.selection
    )
    AND NOT EXISTS (
        SELECT 1
        FROM staged_sentence_selections
        WHERE staged_sentence_selections.query_id = sentence_selections.query_id
            AND staged_sentence_selections.selection = sentence_selections.selection
            AND staged_sentence_selections.position = sentence_selections.position
    )

-- name: insert_positions
INSERT INTO sentence_selections (corpus_id, query_id, selection, position, batch_id)
SELECT DISTINCT
    CAST(:corpus_id AS INTEGER), query_id, selection, position, CAST(:batch_id AS BIGINT)
FROM staged_sentence_selections
ON CONFLICT DO NOTHING
