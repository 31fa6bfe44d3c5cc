-- The grades of the pool.
SELECT
    judged_papers.query_id,
    judged_papers.paper_id,
    CAST(FLOOR(
        CAST(2 * SUM(judged_papers.grade) + COUNT(*) AS DOUBLE PRECISION) / (2 * COUNT(*))
    ) AS INTEGER) AS grade
FROM judged_papers
INNER JOIN scirepeval_relish.queries AS asked ON judged_papers.query_id = asked.query_id
INNER JOIN chosen_corpora ON judged_papers.corpus_id = chosen_corpora.corpus_id
WHERE chosen_corpora.benchmark = 'scirepeval_relish'
    AND judged_papers.split IN ('test', 'all')
GROUP BY judged_papers.query_id, judged_papers.paper_id
