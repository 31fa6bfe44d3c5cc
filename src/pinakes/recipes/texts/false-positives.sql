-- Which papers does a run rank highly that nobody judged relevant?
--
-- False positives at the top, with their titles; a null grade says that the pair was never judged.
--
-- {benchmark}: benchmark (synthetic)
-- {system}: system (bm25)
-- {depth}: number = 3
-- {limit}: number = 50
SELECT
    hits.query_id,
    hits.rank,
    papers.source_id,
    papers.title,
    judgments.grade,
    queries.text AS query
FROM hits
INNER JOIN papers ON hits.paper_id = papers.paper_id
INNER JOIN {benchmark}.queries AS queries ON hits.query_id = queries.query_id
LEFT JOIN {benchmark}.judgments AS judgments
    ON hits.query_id = judgments.query_id
    AND hits.paper_id = judgments.paper_id
WHERE hits.run_id = (SELECT MAX(run_id) FROM runs WHERE benchmark = '{benchmark}' AND system = '{system}')
    AND hits.rank <= {depth}
    AND COALESCE(judgments.grade, 0) = 0
ORDER BY hits.rank, hits.query_id
LIMIT {limit}
