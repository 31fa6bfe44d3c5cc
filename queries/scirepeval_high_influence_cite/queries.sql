-- A paper, whose highly influential citations are to be found: as published, or of any corpus whose texts cite one
-- work several times; then a query has at least five that it cites four times or more.
WITH chosen AS (
    SELECT chosen_corpora.corpus_id
    FROM chosen_corpora
    WHERE chosen_corpora.benchmark = 'scirepeval_high_influence_cite'
),

mentioned AS (
    SELECT
        citing.source_id,
        citing.paper_id AS citing_paper_id,
        cited_references.paper_id AS cited_paper_id,
        COUNT(*) AS mentions
    FROM citations
    INNER JOIN cited_references ON citations.reference_id = cited_references.reference_id
    INNER JOIN distinct_papers AS citing ON citations.citing_paper_id = citing.paper_id
    WHERE citing.corpus_id IN (SELECT chosen.corpus_id FROM chosen)
        AND cited_references.paper_id <> citing.paper_id
        AND NOT EXISTS (
            SELECT 1
            FROM benchmark_queries
            WHERE benchmark_queries.corpus_id IN (SELECT chosen.corpus_id FROM chosen)
                AND benchmark_queries.field = 'high_influence_cite'
        )
    GROUP BY citing.source_id, citing.paper_id, cited_references.paper_id
)

SELECT
    benchmark_queries.query_id,
    benchmark_queries.paper_id,
    benchmark_queries.text
FROM benchmark_queries
WHERE benchmark_queries.corpus_id IN (SELECT chosen.corpus_id FROM chosen)
    AND benchmark_queries.field = 'high_influence_cite'
    AND EXISTS (
        SELECT 1
        FROM judged_papers
        WHERE judged_papers.corpus_id = benchmark_queries.corpus_id
            AND judged_papers.query_id = benchmark_queries.query_id
            AND judged_papers.split IN ('test', 'all')
    )

UNION ALL

SELECT
    mentioned.source_id AS query_id,
    mentioned.citing_paper_id AS paper_id,
    CAST(NULL AS TEXT) AS text
FROM mentioned
GROUP BY mentioned.source_id, mentioned.citing_paper_id
HAVING SUM(CASE WHEN mentioned.mentions >= 4 THEN 1 ELSE 0 END) >= 5
