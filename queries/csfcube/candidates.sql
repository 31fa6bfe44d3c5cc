-- A query's pool: the papers that were judged for it, without the query's own paper. (The release holds
-- paper 8781666 in both of its own pools, with grade 3; its authors' sample rankings leave it out, and so
-- do we.) `source` names the methods that put a candidate into the pool.
SELECT
    judged_papers.query_id,
    judged_papers.paper_id,
    STRING_AGG(pool_sources.source, ',' ORDER BY pool_sources.source) AS source
FROM judged_papers
INNER JOIN benchmark_queries
    ON judged_papers.corpus_id = benchmark_queries.corpus_id
    AND judged_papers.query_id = benchmark_queries.query_id
LEFT JOIN pool_sources
    ON judged_papers.corpus_id = pool_sources.corpus_id
    AND judged_papers.query_id = pool_sources.query_id
    AND judged_papers.paper_id = pool_sources.paper_id
WHERE judged_papers.corpus = 'csfcube'
    AND judged_papers.assessor = 'adjudicated'
    AND judged_papers.paper_id <> benchmark_queries.paper_id
GROUP BY judged_papers.query_id, judged_papers.paper_id
