-- How much of what is cited do we hold?
--
-- By year of the citing paper. Where the share is low, whatever counts citations counts few of them.
--
-- {corpus}: corpus (synthetic)
SELECT
    papers.year,
    COUNT(DISTINCT papers.paper_id) AS citing_papers,
    COUNT(*) AS mentions,
    COUNT(cited_references.paper_id) AS held,
    CAST(100.0 * COUNT(cited_references.paper_id) / COUNT(*) AS DECIMAL(5, 2)) AS per_cent_held
FROM citations
INNER JOIN cited_references ON citations.reference_id = cited_references.reference_id
INNER JOIN papers ON citations.citing_paper_id = papers.paper_id
INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
WHERE corpora.name = '{corpus}'
GROUP BY papers.year
ORDER BY papers.year
