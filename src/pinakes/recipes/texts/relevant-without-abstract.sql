-- Which papers without an abstract does a benchmark judge relevant?
--
-- These bound what any system can reach: a relevant paper without a text is lost to all of them.
SELECT
    corpora.name AS corpus,
    judged_papers.query_id,
    judged_papers.source_id,
    papers.title,
    judged_papers.grade
FROM judged_papers
INNER JOIN papers ON judged_papers.paper_id = papers.paper_id
INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
WHERE papers.abstract IS NULL
    AND judged_papers.grade > 0
    AND judged_papers.assessor IN ('published', 'adjudicated')
ORDER BY corpora.name, judged_papers.query_id, judged_papers.source_id
