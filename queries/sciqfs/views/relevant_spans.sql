-- How many runs of consecutive relevant sentences the examples have, by their length, in each mode and part.
WITH numbered AS (
    SELECT
        mode,
        corpus,
        producer,
        query_id,
        place,
        place - ROW_NUMBER() OVER (PARTITION BY mode, corpus, producer, query_id ORDER BY place) AS span
    FROM sciqfs.relevant_places
),

spans AS (
    SELECT
        mode,
        corpus,
        producer,
        query_id,
        span,
        COUNT(*) AS length
    FROM numbered
    GROUP BY mode, corpus, producer, query_id, span
)

SELECT
    spans.mode,
    spans.corpus,
    spans.producer,
    splits.part,
    spans.length,
    COUNT(*) AS spans
FROM spans
INNER JOIN sciqfs.modes AS modes ON spans.mode = modes.mode
INNER JOIN sciqfs.splits AS splits
    ON
        modes.scheme = splits.scheme
        AND spans.corpus = splits.corpus
        AND spans.producer = splits.producer
        AND spans.query_id = splits.query_id
GROUP BY spans.mode, spans.corpus, spans.producer, splits.part, spans.length
