-- Which relevant papers did a run not have among its first hundred?
--
-- A null rank says that the run does not rank the paper at all.
--
-- {benchmark}: benchmark (synthetic)
-- {system}: system (bm25)
-- {depth}: number = 100
-- {limit}: number = 50
SELECT
    judgments.query_id,
    judgments.grade,
    hits.rank,
    papers.source_id,
    papers.title
FROM {benchmark}.judgments AS judgments
INNER JOIN papers ON judgments.paper_id = papers.paper_id
LEFT JOIN hits
    ON judgments.query_id = hits.query_id
    AND judgments.paper_id = hits.paper_id
    AND hits.run_id = (SELECT MAX(run_id) FROM runs WHERE benchmark = '{benchmark}' AND system = '{system}')
WHERE judgments.grade > 0 AND (hits.rank IS NULL OR hits.rank > {depth})
ORDER BY judgments.grade DESC, judgments.query_id, papers.source_id
LIMIT {limit}
