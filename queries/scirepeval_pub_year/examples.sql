-- When a paper was published, scaled to 0 to 1: as published, or of any corpus with years.
WITH chosen AS (
    SELECT chosen_corpora.corpus_id
    FROM chosen_corpora
    WHERE chosen_corpora.benchmark = 'scirepeval_pub_year'
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
        AND labelled_papers.task IN ('pub_year', 'pub_year:texts')
        AND labelled_papers.value IS NOT NULL
),

dated AS (
    SELECT
        distinct_papers.source_id,
        distinct_papers.paper_id,
        CAST(distinct_papers.year - MIN(distinct_papers.year) OVER () AS DOUBLE PRECISION)
        / NULLIF(MAX(distinct_papers.year) OVER () - MIN(distinct_papers.year) OVER (), 0) AS value
    FROM distinct_papers
    WHERE distinct_papers.corpus_id IN (SELECT chosen.corpus_id FROM chosen)
        AND distinct_papers.year > 2005
        AND NOT EXISTS (SELECT 1 FROM labelled)
),

citations_of_chosen AS (
    SELECT CAST(AVG(CAST(LN(CAST(papers.citation_count AS DOUBLE PRECISION)) AS DECIMAL(18, 9))) AS DOUBLE PRECISION) AS mean
    FROM papers
    WHERE papers.corpus_id IN (SELECT chosen.corpus_id FROM chosen) AND papers.citation_count > 0
)

SELECT
    labelled.source_id AS query_id,
    labelled.paper_id,
    labelled.side AS split,
    labelled.position,
    labelled.value,
    CAST(NULL AS DOUBLE PRECISION) AS scaled_by_citations
FROM labelled
WHERE labelled.side IS NOT NULL
    AND (
        labelled.task = 'pub_year'
        OR NOT EXISTS (SELECT 1 FROM labelled AS published WHERE published.task = 'pub_year')
    )

UNION ALL

SELECT
    dated.source_id AS query_id,
    dated.paper_id,
    CASE WHEN paper_parts.part < 3 THEN 'test' ELSE 'train' END AS split,
    ROW_NUMBER() OVER (ORDER BY MD5(dated.source_id), dated.source_id) AS position,
    COALESCE(dated.value, 0) AS value,
    dated.value * citations_of_chosen.mean AS scaled_by_citations
FROM dated
INNER JOIN paper_parts ON dated.paper_id = paper_parts.paper_id
CROSS JOIN citations_of_chosen
