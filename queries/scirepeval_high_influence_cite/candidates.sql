-- A query's pool: the papers that are judged for it, or all that it cites.
SELECT DISTINCT
    judged_papers.query_id,
    judged_papers.paper_id,
    CAST(NULL AS TEXT) AS source
FROM judged_papers
INNER JOIN scirepeval_high_influence_cite.queries AS asked ON judged_papers.query_id = asked.query_id
INNER JOIN chosen_corpora ON judged_papers.corpus_id = chosen_corpora.corpus_id
WHERE chosen_corpora.benchmark = 'scirepeval_high_influence_cite'
    AND judged_papers.split IN ('test', 'all')

UNION ALL

SELECT DISTINCT
    asked.query_id,
    cited_references.paper_id,
    'cited' AS source
FROM scirepeval_high_influence_cite.queries AS asked
INNER JOIN papers ON asked.paper_id = papers.paper_id AND asked.query_id = papers.source_id
INNER JOIN citations ON papers.paper_id = citations.citing_paper_id
INNER JOIN cited_references ON citations.reference_id = cited_references.reference_id
WHERE cited_references.paper_id <> papers.paper_id
