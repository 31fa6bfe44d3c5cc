-- Which papers are cited together most often?
--
-- Co-citation: two papers that many others cite side by side are about the same thing, whatever their words.
--
-- {limit}: number = 20
SELECT
    one.source_id AS one,
    other.source_id AS other,
    COUNT(*) AS cited_together
FROM citation_links AS first_links
INNER JOIN citation_links AS second_links
    ON first_links.citing_paper_id = second_links.citing_paper_id
    AND first_links.cited_paper_id < second_links.cited_paper_id
INNER JOIN papers AS one ON first_links.cited_paper_id = one.paper_id
INNER JOIN papers AS other ON second_links.cited_paper_id = other.paper_id
GROUP BY one.source_id, other.source_id
ORDER BY cited_together DESC, one.source_id, other.source_id
LIMIT {limit}
