-- The grades of the pool.
SELECT
    judged_papers.query_id,
    judged_papers.paper_id,
    MAX(judged_papers.grade) AS grade
FROM judged_papers
INNER JOIN scirepeval_scidocs_cocite.queries AS asked ON judged_papers.query_id = asked.query_id
INNER JOIN chosen_corpora ON judged_papers.corpus_id = chosen_corpora.corpus_id
WHERE chosen_corpora.benchmark = 'scirepeval_scidocs_cocite'
    AND judged_papers.split IN ('test', 'all')
GROUP BY judged_papers.query_id, judged_papers.paper_id
