-- The state of research of each paper: as published, or by the gold file of DRSM's own release, where the label is the
-- leading number of the category if 60 papers have it, else `other`, also where no category is given.
WITH chosen AS (
    SELECT chosen_corpora.corpus_id
    FROM chosen_corpora
    WHERE chosen_corpora.benchmark = 'scirepeval_drsm'
),

gold AS (
    SELECT
        labelled_papers.paper_id,
        labelled_papers.source_id,
        labelled_papers.side,
        MIN(labelled_papers.position) AS position
    FROM labelled_papers
    WHERE labelled_papers.corpus_id IN (SELECT chosen.corpus_id FROM chosen)
        AND labelled_papers.task = 'gold_standard'
    GROUP BY labelled_papers.paper_id, labelled_papers.source_id, labelled_papers.side
),

categories AS (
    SELECT
        gold.paper_id,
        MIN(TRIM(TRAILING '.' FROM SPLIT_PART(labels.label, ' ', 1))) AS category
    FROM gold
    INNER JOIN labels ON gold.paper_id = labels.paper_id
    WHERE labels.task = 'primary_category'
    GROUP BY gold.paper_id
),

frequent AS (
    SELECT categories.category
    FROM categories
    GROUP BY categories.category
    HAVING COUNT(*) >= 60
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
        labelled_papers.label
    FROM labelled_papers
    WHERE labelled_papers.corpus_id IN (SELECT chosen.corpus_id FROM chosen)
        AND labelled_papers.task IN ('drsm', 'drsm:texts')
)

SELECT
    labelled.source_id AS query_id,
    labelled.paper_id,
    labelled.side AS split,
    MIN(labelled.position) AS position,
    labelled.label
FROM labelled
WHERE labelled.side IS NOT NULL
    AND (
        labelled.task = 'drsm'
        OR NOT EXISTS (SELECT 1 FROM labelled AS published WHERE published.task = 'drsm')
    )
GROUP BY labelled.task, labelled.source_id, labelled.paper_id, labelled.side, labelled.label

UNION ALL

SELECT
    gold.source_id AS query_id,
    gold.paper_id,
    gold.side AS split,
    gold.position,
    COALESCE(frequent.category, 'other') AS label
FROM gold
LEFT JOIN categories ON gold.paper_id = categories.paper_id
LEFT JOIN frequent ON categories.category = frequent.category
WHERE NOT EXISTS (SELECT 1 FROM labelled)
