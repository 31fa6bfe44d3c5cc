-- A query's pool: the papers that are judged for it; of NFCorpus itself, which lists relevant ones alone, all.
SELECT DISTINCT
    judged_papers.query_id,
    judged_papers.paper_id,
    CAST(NULL AS TEXT) AS source
FROM judged_papers
INNER JOIN scirepeval_nfcorpus.queries AS asked ON judged_papers.query_id = asked.query_id
INNER JOIN chosen_corpora ON judged_papers.corpus_id = chosen_corpora.corpus_id
WHERE chosen_corpora.benchmark = 'scirepeval_nfcorpus'
    AND judged_papers.split IN ('test', 'all')
    AND chosen_corpora.corpus <> 'nfcorpus'

UNION ALL

SELECT
    asked.query_id,
    papers.paper_id,
    CAST(NULL AS TEXT) AS source
FROM scirepeval_nfcorpus.queries AS asked
CROSS JOIN papers
INNER JOIN chosen_corpora ON papers.corpus_id = chosen_corpora.corpus_id
WHERE chosen_corpora.benchmark = 'scirepeval_nfcorpus' AND chosen_corpora.corpus = 'nfcorpus'
