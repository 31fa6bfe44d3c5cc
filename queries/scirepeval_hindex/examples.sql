-- The greatest h-index of a paper's authors, 0 to 1: as published, or over the papers of any corpus with authors and
-- citation counts.
WITH chosen AS (
    SELECT chosen_corpora.corpus_id
    FROM chosen_corpora
    WHERE chosen_corpora.benchmark = 'scirepeval_hindex'
),

labelled AS (
    SELECT
        labelled_papers.task,
        labelled_papers.source_id,
        labelled_papers.paper_id,
        labelled_papers.side,
        labelled_papers.position,
        labelled_papers.value
    FROM labelled_papers
    WHERE labelled_papers.corpus_id IN (SELECT chosen.corpus_id FROM chosen)
        AND labelled_papers.task IN ('hIndex')
        AND labelled_papers.value IS NOT NULL
),

ranked AS (
    SELECT
        written.author_id,
        distinct_papers.citation_count,
        ROW_NUMBER() OVER (
            PARTITION BY written.author_id ORDER BY distinct_papers.citation_count DESC
        ) AS rank_of_paper
    FROM (SELECT DISTINCT authorships.author_id, authorships.paper_id FROM authorships) AS written
    INNER JOIN distinct_papers ON written.paper_id = distinct_papers.paper_id
    WHERE distinct_papers.corpus_id IN (SELECT chosen.corpus_id FROM chosen)
        AND distinct_papers.citation_count IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM labelled)
),

authors_of_chosen AS (
    SELECT
        ranked.author_id,
        SUM(CASE WHEN ranked.citation_count >= ranked.rank_of_paper THEN 1 ELSE 0 END) AS h_index
    FROM ranked
    GROUP BY ranked.author_id
),

greatest_of_authors AS (
    SELECT
        distinct_papers.source_id,
        distinct_papers.paper_id,
        MAX(authors_of_chosen.h_index) AS h_index
    FROM distinct_papers
    INNER JOIN authorships ON distinct_papers.paper_id = authorships.paper_id
    INNER JOIN authors_of_chosen ON authorships.author_id = authors_of_chosen.author_id
    GROUP BY distinct_papers.source_id, distinct_papers.paper_id
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
        labelled.task = 'hIndex'
        OR NOT EXISTS (SELECT 1 FROM labelled AS published WHERE published.task = 'hIndex')
    )

UNION ALL

SELECT
    greatest_of_authors.source_id AS query_id,
    greatest_of_authors.paper_id,
    CASE WHEN paper_parts.part < 3 THEN 'test' ELSE 'train' END AS split,
    ROW_NUMBER() OVER (ORDER BY MD5(greatest_of_authors.source_id), greatest_of_authors.source_id) AS position,
    COALESCE(
        CAST(greatest_of_authors.h_index AS DOUBLE PRECISION)
        / NULLIF(CAST(MAX(greatest_of_authors.h_index) OVER () AS DOUBLE PRECISION), 0),
        0
    ) AS value
FROM greatest_of_authors
INNER JOIN paper_parts ON greatest_of_authors.paper_id = paper_parts.paper_id
