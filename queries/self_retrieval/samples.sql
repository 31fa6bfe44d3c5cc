-- Which papers are drawn first: for the titles of tasks I and II, and for the overlaps of each code. The order
-- depends on ids alone; a run takes as many of the first positions as benchmark.toml says.
SELECT
    corpus,
    'I' AS scheme,
    'T' AS code,
    '' AS producer,
    paper_id,
    ROW_NUMBER() OVER (PARTITION BY corpus ORDER BY md5(query_id || ':1'), query_id) AS position
FROM self_retrieval.originals
UNION ALL
SELECT
    corpus,
    'AOP' AS scheme,
    code,
    producer,
    paper_id,
    ROW_NUMBER() OVER (
        PARTITION BY corpus, code, producer ORDER BY md5(query_id || ':' || code || ':1'), query_id
    ) AS position
FROM self_retrieval.neighbours
