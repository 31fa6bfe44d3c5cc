-- The relevant sentences of each example, as each mode asks: their places in the document, from 1.
WITH places AS MATERIALIZED ( -- else Postgres numbers the sentences once for each label
    SELECT paper_id, splitter, section_number, position, place
    FROM sciqfs.document_sentences
)

SELECT
    asked.mode,
    asked.part,
    asked.corpus,
    asked.producer,
    asked.query_id,
    asked.paper_id,
    asked.reference_id,
    places.place
FROM sciqfs.asked_examples AS asked
INNER JOIN summary_labels
    ON
        asked.paper_id = summary_labels.paper_id
        AND asked.reference_id = summary_labels.reference_id
        AND asked.producer = summary_labels.producer
        AND asked.labeller = summary_labels.labeller
INNER JOIN places
    ON
        asked.paper_id = places.paper_id
        AND asked.splitter = places.splitter
        AND summary_labels.section_number = places.section_number
        AND summary_labels.position = places.position
WHERE places.place <= asked.sentences
