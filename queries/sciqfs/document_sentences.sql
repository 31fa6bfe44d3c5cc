-- The documents: sentences of the sections of each paper that has an example, of its splitter, in their order.
WITH documents AS (
    SELECT DISTINCT corpus, paper_id, source_id, splitter
    FROM sciqfs.examples
)

SELECT
    documents.corpus,
    documents.splitter,
    documents.paper_id,
    documents.source_id,
    sentences.section_number,
    sentences.position,
    ROW_NUMBER() OVER (
        PARTITION BY documents.paper_id, documents.splitter ORDER BY sentences.section_number, sentences.position
    ) AS place,
    sentences.text
FROM documents
INNER JOIN sentences ON documents.paper_id = sentences.paper_id AND documents.splitter = sentences.producer
WHERE sentences.section_number >= 1
