-- The disease of each paper, as SciRepEval publishes it or as SciDocs itself does.
WITH chosen AS (
    SELECT chosen_corpora.corpus_id
    FROM chosen_corpora
    WHERE chosen_corpora.benchmark = 'scirepeval_scidocs_mesh'
),

labelled AS (
    SELECT
        labelled_papers.task,
        labelled_papers.source_id,
        labelled_papers.paper_id,
        labelled_papers.side,
        labelled_papers.position,
        labelled_papers.label
    FROM labelled_papers
    WHERE labelled_papers.corpus_id IN (SELECT chosen.corpus_id FROM chosen)
        AND labelled_papers.task IN ('scidocs_mesh', 'mesh')
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
        labelled.task = 'scidocs_mesh'
        OR NOT EXISTS (SELECT 1 FROM labelled AS published WHERE published.task = 'scidocs_mesh')
    )
GROUP BY labelled.task, labelled.source_id, labelled.paper_id, labelled.side, labelled.label
