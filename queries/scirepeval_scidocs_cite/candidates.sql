-- A query's pool: the papers that are judged for it.
SELECT DISTINCT
    judged_papers.query_id,
    judged_papers.paper_id,
    CAST(NULL AS TEXT) AS source
FROM judged_papers
INNER JOIN scirepeval_scidocs_cite.queries AS asked ON judged_papers.query_id = asked.query_id
INNER JOIN chosen_corpora ON judged_papers.corpus_id = chosen_corpora.corpus_id
WHERE chosen_corpora.benchmark = 'scirepeval_scidocs_cite'
    AND judged_papers.split IN ('test', 'all')
