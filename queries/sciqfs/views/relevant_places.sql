-- The sentences that are relevant in each mode, of those that it reads, by their place in the document, from 1.
SELECT
    modes.mode,
    labels.corpus,
    labels.producer,
    labels.query_id,
    document_sentences.place
FROM sciqfs.modes AS modes
INNER JOIN sciqfs.labels AS labels ON modes.labeller = labels.labeller
INNER JOIN sciqfs.examples AS examples
    ON labels.corpus = examples.corpus AND labels.producer = examples.producer AND labels.query_id = examples.query_id
INNER JOIN sciqfs.document_sentences AS document_sentences
    ON
        examples.corpus = document_sentences.corpus
        AND examples.splitter = document_sentences.splitter
        AND examples.paper_id = document_sentences.paper_id
        AND labels.section_number = document_sentences.section_number
        AND labels.position = document_sentences.position
WHERE modes.first_sentences IS NULL OR document_sentences.place <= modes.first_sentences
