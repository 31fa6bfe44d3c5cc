-- The relevant sentences of each example, as each mode asks: their places in the document, from 1.
SELECT
    asked.mode,
    asked.part,
    asked.corpus,
    asked.producer,
    asked.query_id,
    document_sentences.place
FROM sciqfs.asked_examples AS asked
INNER JOIN sciqfs.labels AS labels
    ON
        asked.corpus = labels.corpus
        AND asked.producer = labels.producer
        AND asked.query_id = labels.query_id
        AND asked.labeller = labels.labeller
INNER JOIN sciqfs.document_sentences AS document_sentences
    ON
        asked.paper_id = document_sentences.paper_id
        AND asked.splitter = document_sentences.splitter
        AND labels.section_number = document_sentences.section_number
        AND labels.position = document_sentences.position
WHERE document_sentences.place <= asked.sentences
