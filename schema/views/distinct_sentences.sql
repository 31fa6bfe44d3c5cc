-- Sentences of one split of each text: what a source says before what a generator made, then the producer that is
-- first by name.
CREATE VIEW distinct_sentences AS
SELECT
    sentences.paper_id,
    sentences.section_number,
    sentences.position,
    sentences.text,
    sentences.facet,
    sentences.source_label,
    sentences.producer,
    sentences.text_digest
FROM sentences
WHERE NOT EXISTS (
    SELECT 1
    FROM sentences AS other
    WHERE other.paper_id = sentences.paper_id
        AND other.section_number = sentences.section_number
        AND other.producer <> sentences.producer
        AND (
            (other.text_digest IS NULL AND sentences.text_digest IS NOT NULL)
            OR (
                (other.text_digest IS NULL) = (sentences.text_digest IS NULL)
                AND other.producer < sentences.producer
            )
        )
)
