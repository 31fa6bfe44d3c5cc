-- Cited works with the normalised title by which two of them are compared: ASCII letters lowered, ASCII punctuation
-- and white space dropped, as normalise_title in pinakes.loaders.reading.rows does.
CREATE VIEW reference_title_keys AS
SELECT
    reference_id,
    corpus_id,
    REGEXP_REPLACE(
        TRANSLATE(title, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz'),
        '[\x01-\x2f\x3a-\x60\x7b-\x7f]+', '', 'g'
    ) AS title_key
FROM cited_references
WHERE title IS NOT NULL
