-- Which staged records name what the corpus does not hold. One block a kind of record.

-- name: queries
SELECT staged_queries.row_number, 'unknown_paper' AS reason, staged_queries.paper_source_id AS subject
FROM staged_queries
LEFT JOIN papers ON papers.corpus_id = :corpus_id AND staged_queries.paper_source_id = papers.source_id
WHERE staged_queries.paper_source_id IS NOT NULL AND papers.paper_id IS NULL
ORDER BY row_number, reason, subject

-- name: judgments
SELECT DISTINCT
    staged_judgments.row_number,
    CASE WHEN papers.paper_id IS NULL THEN 'unknown_paper' ELSE 'unknown_query' END AS reason,
    CASE WHEN papers.paper_id IS NULL THEN staged_judgments.source_id ELSE staged_judgments.query_id END AS subject
FROM staged_judgments
LEFT JOIN papers ON papers.corpus_id = :corpus_id AND staged_judgments.source_id = papers.source_id
LEFT JOIN benchmark_queries
    ON benchmark_queries.corpus_id = :corpus_id AND staged_judgments.query_id = benchmark_queries.query_id
WHERE papers.paper_id IS NULL OR benchmark_queries.query_id IS NULL
ORDER BY row_number, reason, subject

-- name: pool_sources
SELECT DISTINCT
    staged_pool_sources.row_number,
    CASE WHEN papers.paper_id IS NULL THEN 'unknown_paper' ELSE 'unknown_query' END AS reason,
    CASE
        WHEN papers.paper_id IS NULL THEN staged_pool_sources.source_id
        ELSE staged_pool_sources.query_id
    END AS subject
FROM staged_pool_sources
LEFT JOIN papers ON papers.corpus_id = :corpus_id AND staged_pool_sources.source_id = papers.source_id
LEFT JOIN benchmark_queries
    ON benchmark_queries.corpus_id = :corpus_id AND staged_pool_sources.query_id = benchmark_queries.query_id
WHERE papers.paper_id IS NULL OR benchmark_queries.query_id IS NULL
ORDER BY row_number, reason, subject

-- name: citations
SELECT DISTINCT
    staged_citations.row_number,
    'unknown_paper' AS reason,
    staged_citations.citing_source_id AS subject
FROM staged_citations
LEFT JOIN papers ON papers.corpus_id = :corpus_id AND staged_citations.citing_source_id = papers.source_id
WHERE papers.paper_id IS NULL
ORDER BY row_number, reason, subject
