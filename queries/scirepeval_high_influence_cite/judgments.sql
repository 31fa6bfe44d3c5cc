-- 1 is a candidate that the query cites at least four times: as published, or as its mentions count.
SELECT
    judged_papers.query_id,
    judged_papers.paper_id,
    MAX(judged_papers.grade) AS grade
FROM judged_papers
INNER JOIN scirepeval_high_influence_cite.queries AS asked ON judged_papers.query_id = asked.query_id
INNER JOIN chosen_corpora ON judged_papers.corpus_id = chosen_corpora.corpus_id
WHERE chosen_corpora.benchmark = 'scirepeval_high_influence_cite'
    AND judged_papers.split IN ('test', 'all')
GROUP BY judged_papers.query_id, judged_papers.paper_id

UNION ALL

SELECT
    asked.query_id,
    cited_references.paper_id,
    CASE WHEN COUNT(*) >= 4 THEN 1 ELSE 0 END AS grade
FROM scirepeval_high_influence_cite.queries AS asked
INNER JOIN papers ON asked.paper_id = papers.paper_id AND asked.query_id = papers.source_id
INNER JOIN citations ON papers.paper_id = citations.citing_paper_id
INNER JOIN cited_references ON citations.reference_id = cited_references.reference_id
WHERE cited_references.paper_id <> papers.paper_id
GROUP BY asked.query_id, cited_references.paper_id
