-- Which papers should be judged next?
--
-- What nobody has judged and most systems rank among their first `depth`, by their newest runs: a judgment of these decides most.
--
-- {benchmark}: benchmark (synthetic)
-- {depth}: number = 10
-- {limit}: number = 50
WITH newest AS (
    SELECT system, MAX(run_id) AS run_id
    FROM runs
    WHERE benchmark = '{benchmark}'
    GROUP BY system
)
SELECT
    hits.query_id,
    papers.source_id,
    papers.title,
    COUNT(*) AS systems,
    MIN(hits.rank) AS best_rank
FROM newest
INNER JOIN hits ON newest.run_id = hits.run_id
INNER JOIN papers ON hits.paper_id = papers.paper_id
LEFT JOIN {benchmark}.judgments AS judgments
    ON hits.query_id = judgments.query_id
    AND hits.paper_id = judgments.paper_id
WHERE hits.rank <= {depth} AND judgments.paper_id IS NULL
GROUP BY hits.query_id, papers.source_id, papers.title
ORDER BY systems DESC, best_rank, hits.query_id, papers.source_id
LIMIT {limit}
