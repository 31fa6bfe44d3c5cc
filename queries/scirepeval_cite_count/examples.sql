-- How often a paper is cited, on a log scale: as published, or of any corpus that counts citations.
WITH chosen AS (
    SELECT chosen_corpora.corpus_id
    FROM chosen_corpora
    WHERE chosen_corpora.benchmark = 'scirepeval_cite_count'
),

labelled AS (
    SELECT
        labelled_papers.task,
        labelled_papers.source_id,
        labelled_papers.paper_id,
        CASE
            WHEN labelled_papers.split = 'dev' AND labelled_papers.task LIKE '%:texts%' THEN 'test'
            ELSE labelled_papers.side
        END AS side,
        labelled_papers.position,
        labelled_papers.value
    FROM labelled_papers
    WHERE labelled_papers.corpus_id IN (SELECT chosen.corpus_id FROM chosen)
        AND labelled_papers.task IN ('cite_count', 'cite_count:texts')
        AND labelled_papers.value IS NOT NULL
),

counted AS (
    SELECT
        distinct_papers.source_id,
        distinct_papers.paper_id,
        distinct_papers.citation_count
    FROM distinct_papers
    WHERE distinct_papers.corpus_id IN (SELECT chosen.corpus_id FROM chosen)
        AND distinct_papers.citation_count > 0
        AND NOT EXISTS (SELECT 1 FROM labelled)
)

SELECT
    labelled.source_id AS query_id,
    labelled.paper_id,
    labelled.side AS split,
    labelled.position,
    labelled.value
FROM labelled
WHERE labelled.side IS NOT NULL
    AND (
        labelled.task = 'cite_count'
        OR NOT EXISTS (SELECT 1 FROM labelled AS published WHERE published.task = 'cite_count')
    )

UNION ALL

SELECT
    counted.source_id AS query_id,
    counted.paper_id,
    CASE WHEN paper_parts.part < 3 THEN 'test' ELSE 'train' END AS split,
    ROW_NUMBER() OVER (ORDER BY MD5(counted.source_id), counted.source_id) AS position,
    LN(CAST(counted.citation_count AS DOUBLE PRECISION)) AS value
FROM counted
INNER JOIN paper_parts ON counted.paper_id = paper_parts.paper_id
