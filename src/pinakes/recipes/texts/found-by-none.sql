-- Which relevant papers does no system find?
--
-- No run has them among its first `depth`. Read them: what they share is what every system lacks.
--
-- {benchmark}: benchmark (synthetic)
-- {depth}: number = 10
-- {limit}: number = 50
WITH best AS (
    SELECT hits.query_id, hits.paper_id, MIN(hits.rank) AS best_rank
    FROM hits
    INNER JOIN runs ON hits.run_id = runs.run_id
    WHERE runs.benchmark = '{benchmark}'
    GROUP BY hits.query_id, hits.paper_id
)
SELECT
    judgments.query_id,
    judgments.grade,
    best.best_rank,
    papers.source_id,
    papers.title,
    CASE WHEN papers.abstract IS NULL THEN 'no' ELSE 'yes' END AS has_abstract
FROM {benchmark}.judgments AS judgments
INNER JOIN papers ON judgments.paper_id = papers.paper_id
LEFT JOIN best ON judgments.query_id = best.query_id AND judgments.paper_id = best.paper_id
WHERE judgments.grade > 0 AND (best.best_rank IS NULL OR best.best_rank > {depth})
ORDER BY judgments.grade DESC, judgments.query_id, papers.source_id
LIMIT {limit}
