-- How many sentences of each example are relevant, and which fraction of its document that is.
WITH counted AS (
    SELECT mode, paper_id, reference_id, producer, COUNT(*) AS positives
    FROM sciqfs.asked_labels
    GROUP BY mode, paper_id, reference_id, producer
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
        AND asked.paper_id = counted.paper_id
        AND asked.reference_id = counted.reference_id
        AND asked.producer = counted.producer
