-- How old is what is cited?
--
-- Years between a citing paper and the one that it cites, of those of which both are known. Below zero stand preprints and
-- wrong years.
--
-- {corpus}: corpus (synthetic)
WITH ages AS (
    SELECT citing.year - cited.year AS age
    FROM citation_links
    INNER JOIN papers AS citing ON citation_links.citing_paper_id = citing.paper_id
    INNER JOIN papers AS cited ON citation_links.cited_paper_id = cited.paper_id
    INNER JOIN corpora ON citing.corpus_id = corpora.corpus_id
    WHERE corpora.name = '{corpus}' AND citing.year IS NOT NULL AND cited.year IS NOT NULL
)
SELECT
    age,
    COUNT(*) AS citations,
    CAST(100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS DECIMAL(5, 2)) AS per_cent,
    CAST(100.0 * SUM(COUNT(*)) OVER (ORDER BY age) / SUM(COUNT(*)) OVER () AS DECIMAL(5, 2)) AS per_cent_up_to
FROM ages
GROUP BY age
ORDER BY age
