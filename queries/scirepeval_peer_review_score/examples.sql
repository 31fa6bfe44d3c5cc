-- The mean rating that reviewers gave a paper: as published, or of the reviews of any corpus that has them.
WITH chosen AS (
    SELECT chosen_corpora.corpus_id
    FROM chosen_corpora
    WHERE chosen_corpora.benchmark = 'scirepeval_peer_review_score'
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
        AND labelled_papers.task IN ('peer_review_score')
        AND labelled_papers.value IS NOT NULL
),

rated AS (
    SELECT
        distinct_papers.source_id,
        distinct_papers.paper_id,
        distinct_papers.venue,
        AVG(review_scores.score) AS value
    FROM distinct_papers
    INNER JOIN review_scores ON distinct_papers.paper_id = review_scores.paper_id
    WHERE distinct_papers.corpus_id IN (SELECT chosen.corpus_id FROM chosen)
        AND review_scores.aspect = 'rating'
        AND NOT EXISTS (SELECT 1 FROM labelled)
    GROUP BY distinct_papers.source_id, distinct_papers.paper_id, distinct_papers.venue
)

SELECT
    labelled.source_id AS query_id,
    labelled.paper_id,
    labelled.side AS split,
    labelled.position,
    labelled.value,
    COALESCE(papers.venue, 'unknown') AS venue
FROM labelled
INNER JOIN papers ON labelled.paper_id = papers.paper_id
WHERE labelled.side IS NOT NULL
    AND (
        labelled.task = 'peer_review_score'
        OR NOT EXISTS (SELECT 1 FROM labelled AS published WHERE published.task = 'peer_review_score')
    )

UNION ALL

SELECT
    rated.source_id AS query_id,
    rated.paper_id,
    CASE WHEN paper_parts.part < 3 THEN 'test' ELSE 'train' END AS split,
    ROW_NUMBER() OVER (ORDER BY MD5(rated.source_id), rated.source_id) AS position,
    rated.value,
    COALESCE(rated.venue, 'unknown') AS venue
FROM rated
INNER JOIN paper_parts ON rated.paper_id = paper_parts.paper_id
