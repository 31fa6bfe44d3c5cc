-- How often do authors cite themselves?
--
-- A citation is one of oneself where the two papers share an author. Papers without authors count in no column.
--
-- {corpus}: corpus (synthetic)
WITH links AS (
    SELECT citing_paper_id, cited_paper_id FROM citation_links
),
authored AS (
    SELECT DISTINCT paper_id FROM authorships
),
own AS (
    SELECT DISTINCT links.citing_paper_id, links.cited_paper_id
    FROM links
    INNER JOIN authorships AS citing ON links.citing_paper_id = citing.paper_id
    INNER JOIN authorships AS cited
        ON links.cited_paper_id = cited.paper_id
        AND citing.author_id = cited.author_id
)
SELECT
    papers.year,
    COUNT(*) AS citations,
    COUNT(own.citing_paper_id) AS of_oneself,
    CAST(100.0 * COUNT(own.citing_paper_id) / COUNT(*) AS DECIMAL(5, 2)) AS per_cent
FROM links
INNER JOIN authored AS citing ON links.citing_paper_id = citing.paper_id
INNER JOIN authored AS cited ON links.cited_paper_id = cited.paper_id
INNER JOIN papers ON links.citing_paper_id = papers.paper_id
INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
LEFT JOIN own
    ON links.citing_paper_id = own.citing_paper_id
    AND links.cited_paper_id = own.cited_paper_id
WHERE corpora.name = '{corpus}'
GROUP BY papers.year
ORDER BY papers.year
