-- How much of what is cited do we hold?
--
-- By year of the citing paper. Where the share is low, whatever counts citations counts few of them.
--
-- {corpus}: corpus (synthetic)
WITH counted AS MATERIALIZED (
    SELECT
        citations.citing_paper_id,
        COUNT(*) AS mentions,
        COUNT(cited_references.paper_id) AS held
    FROM citations
    INNER JOIN cited_references ON citations.reference_id = cited_references.reference_id
    GROUP BY citations.citing_paper_id
)
SELECT
    papers.year,
    COUNT(*) AS citing_papers,
    CAST(SUM(counted.mentions) AS BIGINT) AS mentions,
    CAST(SUM(counted.held) AS BIGINT) AS held,
    CAST(100.0 * SUM(counted.held) / SUM(counted.mentions) AS DECIMAL(5, 2)) AS per_cent_held
FROM counted
INNER JOIN papers ON counted.citing_paper_id = papers.paper_id
INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
WHERE corpora.name = '{corpus}'
GROUP BY papers.year
ORDER BY papers.year
