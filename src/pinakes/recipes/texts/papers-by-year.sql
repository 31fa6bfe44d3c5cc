-- How does a corpus change from year to year?
--
-- Papers, how many papers of ours they cite on average, and how many of them nobody cites: the last years are cited little
-- because they are young, the first cite little because what they cite is not held.
--
-- {corpus}: corpus (synthetic)
WITH links AS (
    SELECT citing_paper_id, cited_paper_id FROM citation_links
),
made AS MATERIALIZED (
    SELECT citing_paper_id AS paper_id, COUNT(*) AS cites FROM links GROUP BY citing_paper_id
),
received AS MATERIALIZED (
    SELECT cited_paper_id AS paper_id, COUNT(*) AS cited FROM links GROUP BY cited_paper_id
)
SELECT
    papers.year,
    COUNT(*) AS papers,
    COUNT(*) - COUNT(papers.abstract) AS without_abstract,
    CAST(1.0 * SUM(COALESCE(made.cites, 0)) / COUNT(*) AS DECIMAL(8, 2)) AS mean_cites,
    CAST(1.0 * SUM(COALESCE(received.cited, 0)) / COUNT(*) AS DECIMAL(8, 2)) AS mean_cited,
    CAST(100.0 * (COUNT(*) - COUNT(received.cited)) / COUNT(*) AS DECIMAL(5, 2)) AS per_cent_uncited
FROM distinct_papers AS papers
INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
LEFT JOIN made ON papers.paper_id = made.paper_id
LEFT JOIN received ON papers.paper_id = received.paper_id
WHERE corpora.name = '{corpus}'
GROUP BY papers.year
ORDER BY papers.year
