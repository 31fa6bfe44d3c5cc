-- How large is each corpus, and how many of its papers have no abstract?
--
-- A paper without an abstract is kept, since judgments may name it; no system can find it by its text.
SELECT
    corpora.name AS corpus,
    COUNT(*) AS papers,
    COUNT(*) - COUNT(papers.abstract) AS without_abstract,
    CAST(100.0 * (COUNT(*) - COUNT(papers.abstract)) / COUNT(*) AS DECIMAL(5, 2)) AS per_cent
FROM papers
INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
GROUP BY corpora.name
ORDER BY corpora.name
