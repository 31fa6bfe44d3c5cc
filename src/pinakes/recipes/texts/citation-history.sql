-- When was a paper cited?
--
-- The citing papers of each year, and all up to it.
--
-- {corpus}: corpus (synthetic)
-- {paper}: text (syn-00000001)
WITH dated AS (
    SELECT citing.year, citing.year - cited.year AS age
    FROM papers AS cited
    INNER JOIN corpora ON cited.corpus_id = corpora.corpus_id
    INNER JOIN citation_links ON cited.paper_id = citation_links.cited_paper_id
    INNER JOIN papers AS citing ON citation_links.citing_paper_id = citing.paper_id
    WHERE corpora.name = '{corpus}' AND cited.source_id = '{paper}'
)
SELECT
    year,
    age,
    COUNT(*) AS citing_papers,
    CAST(SUM(COUNT(*)) OVER (ORDER BY year) AS BIGINT) AS up_to
FROM dated
GROUP BY year, age
ORDER BY year
