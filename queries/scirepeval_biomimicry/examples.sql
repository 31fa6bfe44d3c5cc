-- Whether a paper is about biomimicry (1) or not (0), as published; of PeTaL's golden.json, whose papers all are,
-- whether it describes the function of level 1 that most papers describe.
WITH chosen AS (
    SELECT chosen_corpora.corpus_id
    FROM chosen_corpora
    WHERE chosen_corpora.benchmark = 'scirepeval_biomimicry'
),

functions AS (
    SELECT
        labelled_papers.paper_id,
        labelled_papers.source_id,
        labelled_papers.side,
        MIN(labelled_papers.position) AS position,
        labelled_papers.label
    FROM labelled_papers
    WHERE labelled_papers.corpus_id IN (SELECT chosen.corpus_id FROM chosen)
        AND labelled_papers.task = 'petal_level1'
    GROUP BY
        labelled_papers.paper_id, labelled_papers.source_id, labelled_papers.side, labelled_papers.label
),

frequent AS (
    SELECT functions.label
    FROM functions
    GROUP BY functions.label
    ORDER BY COUNT(*) DESC, functions.label
    LIMIT 1
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
        AND labelled_papers.task IN ('biomimicry', 'biomimicry:texts')
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
        labelled.task = 'biomimicry'
        OR NOT EXISTS (SELECT 1 FROM labelled AS published WHERE published.task = 'biomimicry')
    )
GROUP BY labelled.task, labelled.source_id, labelled.paper_id, labelled.side, labelled.label

UNION ALL

SELECT
    functions.source_id AS query_id,
    functions.paper_id,
    functions.side AS split,
    MIN(functions.position) AS position,
    CASE WHEN COUNT(frequent.label) > 0 THEN '1' ELSE '0' END AS label
FROM functions
LEFT JOIN frequent ON functions.label = frequent.label
WHERE NOT EXISTS (SELECT 1 FROM labelled)
GROUP BY functions.source_id, functions.paper_id, functions.side
