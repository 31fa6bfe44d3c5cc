-- What each candidate of a benchmark with candidate types is: cited, a system's name, graph, random, or the method
-- that pooled it. In MDCR a candidate has one type: cited where it is cited, else the last by name, which is the one
-- that evaluate.py walks last; elsewhere a candidate that several methods pooled has a row for each of them.
CREATE VIEW candidate_types AS
SELECT
    corpora.name AS benchmark,
    pool_sources.query_id,
    pool_sources.paper_id,
    CASE
        WHEN MAX(CASE WHEN pool_sources.source = 'cited' THEN 1 ELSE 0 END) = 1 THEN 'cited'
        ELSE MAX(pool_sources.source)
    END AS source
FROM pool_sources
INNER JOIN corpora ON pool_sources.corpus_id = corpora.corpus_id
GROUP BY
    corpora.name,
    pool_sources.query_id,
    pool_sources.paper_id,
    CASE WHEN corpora.name = 'mdcr' THEN '' ELSE pool_sources.source END
UNION ALL
SELECT
    constructed_candidates.benchmark,
    constructed_candidates.query_id,
    constructed_candidates.paper_id,
    constructed_candidates.source
FROM constructed_candidates
