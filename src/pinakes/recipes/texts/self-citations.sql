-- How often do authors cite themselves?
--
-- A citation is one of oneself where the two papers share an author. Papers without authors count in no column.
--
-- {corpus}: corpus (synthetic)
WITH links AS (
    SELECT
        citation_links.citing_paper_id,
        citation_links.cited_paper_id,
        MAX(CASE WHEN citing.author_id = cited.author_id THEN 1 ELSE 0 END) AS is_own
    FROM citation_links
    INNER JOIN authorships AS citing ON citation_links.citing_paper_id = citing.paper_id
    INNER JOIN authorships AS cited ON citation_links.cited_paper_id = cited.paper_id
    GROUP BY citation_links.citing_paper_id, citation_links.cited_paper_id
)
SELECT
    papers.year,
    COUNT(*) AS citations,
    CAST(SUM(links.is_own) AS BIGINT) AS of_oneself,
    CAST(100.0 * SUM(links.is_own) / COUNT(*) AS DECIMAL(5, 2)) AS per_cent
FROM links
INNER JOIN papers ON links.citing_paper_id = papers.paper_id
INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
WHERE corpora.name = '{corpus}'
GROUP BY papers.year
ORDER BY papers.year
