-- A topic: title, question and narrative.
SELECT
    benchmark_queries.query_id,
    benchmark_queries.paper_id,
    CONCAT_WS(
        ' [SEP] ',
        NULLIF(benchmark_queries.text, ''),
        NULLIF(benchmark_queries.description, ''),
        NULLIF(benchmark_queries.narrative, '')
    ) AS text
FROM benchmark_queries
INNER JOIN chosen_corpora ON benchmark_queries.corpus_id = chosen_corpora.corpus_id
WHERE chosen_corpora.benchmark = 'scirepeval_trec_covid'
    AND (benchmark_queries.field = 'trec_covid' OR benchmark_queries.field IS NULL)
    AND EXISTS (
        SELECT 1
        FROM judged_papers
        WHERE judged_papers.corpus_id = benchmark_queries.corpus_id
            AND judged_papers.query_id = benchmark_queries.query_id
            AND judged_papers.split IN ('test', 'all')
    )
