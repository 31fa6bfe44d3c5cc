-- One of the 30 most frequent MeSH descriptors of each paper: as published, or from PubMed's headings.
WITH chosen AS (
    SELECT chosen_corpora.corpus_id
    FROM chosen_corpora
    WHERE chosen_corpora.benchmark = 'scirepeval_mesh_descriptors'
),

headings AS (
    SELECT
        paper_fields.paper_id,
        SPLIT_PART(paper_fields.field, '/', 1) AS descriptor
    FROM paper_fields
    INNER JOIN distinct_papers ON paper_fields.paper_id = distinct_papers.paper_id
    WHERE distinct_papers.corpus_id IN (SELECT chosen.corpus_id FROM chosen)
        AND paper_fields.assigned_by = 'mesh'
        AND paper_fields.field LIKE '%/%'
    GROUP BY paper_fields.paper_id, SPLIT_PART(paper_fields.field, '/', 1)
    HAVING COUNT(*) = 1
),

frequent AS (
    SELECT headings.descriptor
    FROM headings
    GROUP BY headings.descriptor
    ORDER BY COUNT(*) DESC, headings.descriptor
    LIMIT 30
),

indexed AS (
    SELECT
        headings.paper_id,
        MIN(headings.descriptor) AS label
    FROM headings
    INNER JOIN frequent ON headings.descriptor = frequent.descriptor
    GROUP BY headings.paper_id
    HAVING COUNT(*) = 1
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
        AND labelled_papers.task IN ('mesh_descriptors', 'mesh_descriptors:texts')
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
        labelled.task = 'mesh_descriptors'
        OR NOT EXISTS (SELECT 1 FROM labelled AS published WHERE published.task = 'mesh_descriptors')
    )
GROUP BY labelled.task, labelled.source_id, labelled.paper_id, labelled.side, labelled.label

UNION ALL

SELECT
    papers.source_id AS query_id,
    papers.paper_id,
    CASE WHEN paper_parts.part < 3 THEN 'test' ELSE 'train' END AS split,
    ROW_NUMBER() OVER (ORDER BY MD5(papers.source_id), papers.source_id) AS position,
    indexed.label
FROM indexed
INNER JOIN papers ON indexed.paper_id = papers.paper_id
INNER JOIN paper_parts ON indexed.paper_id = paper_parts.paper_id
WHERE NOT EXISTS (SELECT 1 FROM labelled)
