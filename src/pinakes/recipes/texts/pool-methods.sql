-- How large is each query's pool, and how much of it did each method bring?
--
-- A candidate that several methods found counts for each of them; `alone` counts those that no other found.
--
-- {corpus}: corpus (csfcube)
WITH finders AS (
    SELECT corpus_id, query_id, paper_id, COUNT(*) AS methods
    FROM pool_sources
    GROUP BY corpus_id, query_id, paper_id
)
SELECT
    pool_sources.query_id,
    pool_sources.source,
    COUNT(*) AS candidates,
    COUNT(CASE WHEN finders.methods = 1 THEN 1 END) AS alone
FROM pool_sources
INNER JOIN finders
    ON pool_sources.corpus_id = finders.corpus_id
    AND pool_sources.query_id = finders.query_id
    AND pool_sources.paper_id = finders.paper_id
INNER JOIN corpora ON pool_sources.corpus_id = corpora.corpus_id
WHERE corpora.name = '{corpus}'
GROUP BY pool_sources.query_id, pool_sources.source
ORDER BY pool_sources.query_id, candidates DESC, pool_sources.source
