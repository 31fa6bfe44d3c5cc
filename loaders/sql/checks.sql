-- Which staged records cannot be accepted, each with its first reason. One block a kind of record.

-- name: papers
SELECT row_number, 'duplicate_id' AS reason, source_id AS subject
FROM (
    SELECT
        staged_papers.row_number,
        staged_papers.source_id,
        ROW_NUMBER() OVER (PARTITION BY staged_papers.source_id ORDER BY staged_papers.row_number) AS occurrence,
        written.batch_id AS earlier_batch_id
    FROM staged_papers
    LEFT JOIN (
        SELECT papers.source_id, papers.batch_id
        FROM papers
        INNER JOIN load_batches ON papers.batch_id = load_batches.batch_id
        WHERE papers.corpus_id = :corpus_id
            AND load_batches.file_digest = :file_digest
            AND load_batches.role = 'papers'
    ) AS written ON staged_papers.source_id = written.source_id
) AS numbered
WHERE occurrence > 1 OR earlier_batch_id IS NOT NULL
ORDER BY row_number

-- name: queries
SELECT row_number, reason, subject
FROM (
    SELECT
        staged_queries.row_number,
        CASE
            WHEN ROW_NUMBER() OVER (
                PARTITION BY staged_queries.query_id ORDER BY staged_queries.row_number
            ) > 1 OR written.batch_id IS NOT NULL THEN 'duplicate_id'
            WHEN staged_queries.paper_source_id IS NOT NULL AND papers.paper_id IS NULL THEN 'unknown_paper'
        END AS reason,
        CASE
            WHEN staged_queries.paper_source_id IS NOT NULL AND papers.paper_id IS NULL
                THEN staged_queries.paper_source_id
            ELSE staged_queries.query_id
        END AS subject
    FROM staged_queries
    LEFT JOIN papers
        ON papers.corpus_id = :corpus_id AND staged_queries.paper_source_id = papers.source_id
    LEFT JOIN (
        SELECT benchmark_queries.query_id, benchmark_queries.batch_id
        FROM benchmark_queries
        INNER JOIN load_batches ON benchmark_queries.batch_id = load_batches.batch_id
        WHERE benchmark_queries.corpus_id = :corpus_id
            AND load_batches.file_digest = :file_digest
            AND load_batches.role = 'queries'
    ) AS written ON staged_queries.query_id = written.query_id
) AS checked
WHERE reason IS NOT NULL
ORDER BY row_number

-- name: judgments
SELECT row_number, MIN(reason) AS reason, MIN(subject) AS subject
FROM (
    SELECT
        staged_judgments.row_number,
        CASE
            WHEN papers.paper_id IS NULL THEN 'unknown_paper'
            WHEN benchmark_queries.query_id IS NULL THEN 'unknown_query'
            WHEN ROW_NUMBER() OVER (
                PARTITION BY
                    staged_judgments.query_id,
                    staged_judgments.source_id,
                    staged_judgments.assessor,
                    staged_judgments.split
                ORDER BY staged_judgments.row_number
            ) > 1 OR written.batch_id IS NOT NULL THEN 'duplicate_id'
        END AS reason,
        CASE
            WHEN papers.paper_id IS NULL THEN staged_judgments.source_id
            ELSE staged_judgments.query_id
        END AS subject
    FROM staged_judgments
    LEFT JOIN papers ON papers.corpus_id = :corpus_id AND staged_judgments.source_id = papers.source_id
    LEFT JOIN benchmark_queries
        ON benchmark_queries.corpus_id = :corpus_id AND staged_judgments.query_id = benchmark_queries.query_id
    LEFT JOIN (
        SELECT
            judgments.query_id,
            judgments.paper_id,
            judgments.assessor,
            judgments.split,
            judgments.batch_id
        FROM judgments
        INNER JOIN load_batches ON judgments.batch_id = load_batches.batch_id
        WHERE judgments.corpus_id = :corpus_id
            AND load_batches.file_digest = :file_digest
            AND load_batches.role = 'judgments'
    ) AS written
        ON staged_judgments.query_id = written.query_id
        AND papers.paper_id = written.paper_id
        AND staged_judgments.assessor = written.assessor
        AND staged_judgments.split = written.split
) AS checked
WHERE reason IS NOT NULL
GROUP BY row_number
ORDER BY row_number

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
ORDER BY staged_pool_sources.row_number

-- name: citations
SELECT DISTINCT
    staged_citations.row_number,
    'unknown_paper' AS reason,
    staged_citations.citing_source_id AS subject
FROM staged_citations
LEFT JOIN papers ON papers.corpus_id = :corpus_id AND staged_citations.citing_source_id = papers.source_id
WHERE papers.paper_id IS NULL
ORDER BY staged_citations.row_number
