-- How many sentences of each example are read and relevant, in each mode, and on which side of its split it is.
WITH counted AS (
    SELECT
        mode,
        corpus,
        producer,
        query_id,
        COUNT(*) AS positives
    FROM sciqfs.relevant_places
    GROUP BY mode, corpus, producer, query_id
)

SELECT
    modes.mode,
    examples.corpus,
    examples.producer,
    examples.query_id,
    splits.part,
    LEAST(examples.sentences, COALESCE(modes.first_sentences, examples.sentences)) AS sentences,
    COALESCE(counted.positives, 0) AS positives
FROM sciqfs.modes AS modes
INNER JOIN sciqfs.splits AS splits ON modes.scheme = splits.scheme
INNER JOIN sciqfs.examples AS examples
    ON splits.corpus = examples.corpus AND splits.producer = examples.producer AND splits.query_id = examples.query_id
LEFT JOIN counted
    ON
        modes.mode = counted.mode
        AND examples.corpus = counted.corpus
        AND examples.producer = counted.producer
        AND examples.query_id = counted.query_id
