-- A query's pool, each candidate once: a paper that is listed under several types is cited, if it is under
-- that; else of the type that evaluate.py walks last, as the paper's authors label it.
SELECT
    pool_sources.query_id,
    pool_sources.paper_id,
    CASE
        WHEN MAX(CASE WHEN pool_sources.source = 'cited' THEN 1 ELSE 0 END) = 1 THEN 'cited'
        ELSE MAX(pool_sources.source)
    END AS source
FROM pool_sources
INNER JOIN corpora ON pool_sources.corpus_id = corpora.corpus_id
WHERE corpora.name = 'mdcr'
GROUP BY pool_sources.query_id, pool_sources.paper_id
