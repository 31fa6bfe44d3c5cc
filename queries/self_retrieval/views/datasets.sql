-- Papers of each corpus and dataset that can be asked, and why some are no originals.
SELECT
    selections.corpus,
    selections.within,
    COUNT(*) AS papers,
    COUNT(originals.paper_id) AS originals,
    COUNT(CASE WHEN TRIM(BOTH ' ' FROM COALESCE(papers.title, '')) = '' THEN 1 END) AS without_title,
    COUNT(CASE WHEN TRIM(BOTH ' ' FROM COALESCE(papers.abstract, '')) = '' THEN 1 END) AS without_abstract
FROM self_retrieval.selections AS selections
INNER JOIN papers ON selections.paper_id = papers.paper_id
LEFT JOIN self_retrieval.originals AS originals
    ON selections.paper_id = originals.paper_id AND selections.corpus = originals.corpus
GROUP BY selections.corpus, selections.within
