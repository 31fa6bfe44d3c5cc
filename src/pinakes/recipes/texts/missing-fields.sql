-- What do the papers of each corpus lack?
--
-- Look here before any other question: a filter by year drops papers without one, and a citation count of nothing may be a
-- list of references that the source does not give.
WITH authored AS (
    SELECT DISTINCT paper_id FROM authorships
),
classified AS (
    SELECT DISTINCT paper_id FROM paper_fields
),
citing AS (
    SELECT DISTINCT citing_paper_id AS paper_id FROM citations
)
SELECT
    corpora.name AS corpus,
    COUNT(*) AS papers,
    COUNT(*) - COUNT(papers.title) AS without_title,
    COUNT(*) - COUNT(papers.abstract) AS without_abstract,
    COUNT(*) - COUNT(papers.year) AS without_year,
    COUNT(*) - COUNT(papers.venue) AS without_venue,
    COUNT(*) - COUNT(authored.paper_id) AS without_authors,
    COUNT(*) - COUNT(classified.paper_id) AS without_fields,
    COUNT(*) - COUNT(citing.paper_id) AS without_references
FROM papers
INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
LEFT JOIN authored ON papers.paper_id = authored.paper_id
LEFT JOIN classified ON papers.paper_id = classified.paper_id
LEFT JOIN citing ON papers.paper_id = citing.paper_id
GROUP BY corpora.name
ORDER BY corpora.name
