-- The papers that are asked about: those with a title and an abstract. `query_id` is the source's id.
SELECT
    selections.corpus,
    selections.within,
    selections.paper_id,
    papers.source_id AS query_id
FROM self_retrieval.selections AS selections
INNER JOIN papers ON selections.paper_id = papers.paper_id
WHERE TRIM(BOTH ' ' FROM COALESCE(papers.title, '')) <> ''
    AND TRIM(BOTH ' ' FROM COALESCE(papers.abstract, '')) <> ''
