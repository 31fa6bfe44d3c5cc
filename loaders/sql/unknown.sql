-- What staged rows name but no table holds, made into rows without a text.

-- name: queries_papers
INSERT INTO papers (paper_id, corpus_id, source_id, batch_id)
SELECT
    :last_id + ROW_NUMBER() OVER (ORDER BY named.source_id),
    :corpus_id,
    named.source_id,
    :batch_id
FROM (SELECT DISTINCT paper_source_id AS source_id FROM staged_queries) AS named
LEFT JOIN papers ON papers.corpus_id = :corpus_id AND named.source_id = papers.source_id
WHERE papers.paper_id IS NULL AND named.source_id IS NOT NULL

-- name: judgments_papers
INSERT INTO papers (paper_id, corpus_id, source_id, batch_id)
SELECT
    :last_id + ROW_NUMBER() OVER (ORDER BY named.source_id),
    :corpus_id,
    named.source_id,
    :batch_id
FROM (SELECT DISTINCT source_id FROM staged_judgments) AS named
LEFT JOIN papers ON papers.corpus_id = :corpus_id AND named.source_id = papers.source_id
WHERE papers.paper_id IS NULL

-- name: judgments_queries
INSERT INTO benchmark_queries (corpus_id, query_id, batch_id)
SELECT :corpus_id, named.query_id, :batch_id
FROM (SELECT DISTINCT query_id FROM staged_judgments) AS named
LEFT JOIN benchmark_queries
    ON benchmark_queries.corpus_id = :corpus_id AND named.query_id = benchmark_queries.query_id
WHERE benchmark_queries.query_id IS NULL

-- name: pool_sources_papers
INSERT INTO papers (paper_id, corpus_id, source_id, batch_id)
SELECT
    :last_id + ROW_NUMBER() OVER (ORDER BY named.source_id),
    :corpus_id,
    named.source_id,
    :batch_id
FROM (SELECT DISTINCT source_id FROM staged_pool_sources) AS named
LEFT JOIN papers ON papers.corpus_id = :corpus_id AND named.source_id = papers.source_id
WHERE papers.paper_id IS NULL
