-- How many sentences of each example are relevant, and which fraction of its document that is.
WITH counted AS (
    SELECT mode, corpus, producer, query_id, COUNT(*) AS positives
    FROM sciqfs.asked_labels
    GROUP BY mode, corpus, producer, query_id
)

SELECT
    asked.mode,
    asked.part,
    asked.corpus,
    asked.producer,
    asked.query_id,
    asked.sentences,
    COALESCE(counted.positives, 0) AS positives,
    CAST(COALESCE(counted.positives, 0) AS DOUBLE PRECISION) / NULLIF(asked.sentences, 0) AS fraction
FROM sciqfs.asked_examples AS asked
LEFT JOIN counted
    ON
        asked.mode = counted.mode
        AND asked.corpus = counted.corpus
        AND asked.producer = counted.producer
        AND asked.query_id = counted.query_id
