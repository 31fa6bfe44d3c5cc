-- How often does the adjudicated grade overrule every annotator?
--
-- The mean over the queries of the share of papers whose adjudicated grade none of the annotators gave.
WITH papers_of AS (
    SELECT
        agreed.query_id,
        agreed.paper_id,
        MAX(CASE WHEN GREATEST(one.grade, 0) = agreed.grade THEN 1 ELSE 0 END) AS is_upheld
    FROM judged_papers AS agreed
    INNER JOIN judged_papers AS one
        ON agreed.corpus_id = one.corpus_id
        AND agreed.query_id = one.query_id
        AND agreed.paper_id = one.paper_id
        AND agreed.split = one.split
        AND one.assessor <> 'adjudicated'
    WHERE agreed.corpus = 'csfcube' AND agreed.assessor = 'adjudicated'
    GROUP BY agreed.query_id, agreed.paper_id, agreed.grade
),
shares AS (
    SELECT query_id, COUNT(*) AS papers, COUNT(*) - SUM(is_upheld) AS overruled
    FROM papers_of
    GROUP BY query_id
)
SELECT
    queries.facet,
    COUNT(*) AS queries,
    CAST(SUM(shares.overruled) AS BIGINT) AS overruled,
    CAST(100.0 * AVG(1.0 * shares.overruled / shares.papers) AS DECIMAL(5, 2)) AS mean_per_cent
FROM shares
INNER JOIN csfcube.queries AS queries ON shares.query_id = queries.query_id
GROUP BY queries.facet
ORDER BY queries.facet
