-- The fields of study of each paper, a row each; a paper of none has one row without a label.
WITH chosen AS (
    SELECT chosen_corpora.corpus_id
    FROM chosen_corpora
    WHERE chosen_corpora.benchmark = 'scirepeval_fos'
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
        AND labelled_papers.task IN ('fos', 'fos:texts', 'fos:unlabelled', 'fos:texts:unlabelled')
)

SELECT
    labelled.source_id AS query_id,
    labelled.paper_id,
    labelled.side AS split,
    MIN(labelled.position) AS position,
    CASE WHEN labelled.task LIKE '%:unlabelled' THEN NULL ELSE labelled.label END AS label
FROM labelled
WHERE labelled.side IS NOT NULL
    AND (
        labelled.task IN ('fos', 'fos:unlabelled')
        OR NOT EXISTS (SELECT 1 FROM labelled AS published WHERE published.task IN ('fos', 'fos:unlabelled'))
    )
GROUP BY labelled.task, labelled.source_id, labelled.paper_id, labelled.side, labelled.label
