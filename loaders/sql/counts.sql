-- How many staged records are there already, and how many are there with other values: known, changed.

-- name: papers
SELECT COUNT(*) AS known, 0 AS changed
FROM staged_papers
INNER JOIN papers ON papers.corpus_id = :corpus_id AND staged_papers.source_id = papers.source_id

-- name: queries
SELECT COUNT(*) AS known, 0 AS changed
FROM staged_queries
INNER JOIN benchmark_queries
    ON benchmark_queries.corpus_id = :corpus_id AND staged_queries.query_id = benchmark_queries.query_id

-- name: judgments
-- A record may hold several assessors' grades: it is known where one of them is.
SELECT
    COUNT(*) AS known,
    COALESCE(SUM(CASE WHEN same < owed THEN 1 ELSE 0 END), 0) AS changed
FROM (
    SELECT
        staged_judgments.row_number,
        COUNT(*) AS owed,
        COUNT(judgments.grade) AS present,
        SUM(CASE WHEN judgments.grade = staged_judgments.grade THEN 1 ELSE 0 END) AS same
    FROM staged_judgments
    INNER JOIN papers ON papers.corpus_id = :corpus_id AND staged_judgments.source_id = papers.source_id
    LEFT JOIN judgments
        ON judgments.corpus_id = :corpus_id
        AND judgments.query_id = staged_judgments.query_id
        AND judgments.paper_id = papers.paper_id
        AND judgments.assessor = staged_judgments.assessor
        AND judgments.split = staged_judgments.split
    GROUP BY staged_judgments.row_number
) AS compared
WHERE present > 0

-- name: pool_sources
SELECT
    COUNT(*) AS known,
    COALESCE(SUM(CASE WHEN present < owed THEN 1 ELSE 0 END), 0) AS changed
FROM (
    SELECT
        staged_pool_sources.row_number,
        COUNT(*) AS owed,
        COUNT(pool_sources.source) AS present
    FROM staged_pool_sources
    INNER JOIN papers ON papers.corpus_id = :corpus_id AND staged_pool_sources.source_id = papers.source_id
    LEFT JOIN pool_sources
        ON pool_sources.corpus_id = :corpus_id
        AND pool_sources.query_id = staged_pool_sources.query_id
        AND pool_sources.paper_id = papers.paper_id
        AND pool_sources.source = staged_pool_sources.source
    GROUP BY staged_pool_sources.row_number
) AS compared
WHERE present > 0

-- name: citations
-- Before anything is inserted: records none of whose mentions is new.
SELECT COUNT(*) AS known, 0 AS changed
FROM (
    SELECT staged_citations.row_number
    FROM staged_citations
    INNER JOIN papers ON papers.corpus_id = :corpus_id AND staged_citations.citing_source_id = papers.source_id
    LEFT JOIN cited_references
        ON cited_references.corpus_id = :corpus_id
        AND staged_citations.reference_key = cited_references.reference_key
    LEFT JOIN citations
        ON citations.citing_paper_id = papers.paper_id
        AND citations.reference_id = cited_references.reference_id
        AND citations.source_reference_id IS NOT DISTINCT FROM staged_citations.source_reference_id
        AND citations.context IS NOT DISTINCT FROM staged_citations.context
        AND citations.context_start IS NOT DISTINCT FROM staged_citations.context_start
    GROUP BY staged_citations.row_number
    HAVING COUNT(*) = COUNT(citations.citation_id)
) AS repeated
