-- How long the runs of consecutive relevant sentences are, and how often each length comes (Table 4, right).
WITH numbered AS (
    SELECT
        corpus,
        producer,
        mode,
        part,
        query_id,
        place - ROW_NUMBER() OVER (PARTITION BY corpus, producer, mode, query_id ORDER BY place) AS run
    FROM sciqfs.asked_labels
),

runs AS (
    SELECT corpus, producer, mode, part, COUNT(*) AS length
    FROM numbered
    GROUP BY corpus, producer, mode, part, query_id, run
),

counted AS (
    SELECT corpus, producer, mode, part, length, COUNT(*) AS spans
    FROM runs
    GROUP BY corpus, producer, mode, part, length
)

SELECT
    corpus,
    producer,
    mode,
    part,
    length,
    spans,
    CAST(spans AS DOUBLE PRECISION) / SUM(spans) OVER (PARTITION BY corpus, producer, mode, part) AS frequency
FROM counted
