-- Which papers are cited together most often?
--
-- Co-citation: two papers that many others cite side by side are about the same thing, whatever their words. Pairs that fewer
-- than `at_least` papers cite are left out, and with them all that is cited less often: of millions of papers, ask for 100.
--
-- {at_least}: number = 2
-- {limit}: number = 20
WITH links AS (
    SELECT citing_paper_id, cited_paper_id FROM citation_links
),
often AS (
    SELECT cited_paper_id FROM links GROUP BY cited_paper_id HAVING COUNT(*) >= {at_least}
),
kept AS (
    SELECT links.citing_paper_id, links.cited_paper_id
    FROM links
    INNER JOIN often ON links.cited_paper_id = often.cited_paper_id
),
pairs AS (
    SELECT one.cited_paper_id AS one_id, other.cited_paper_id AS other_id, COUNT(*) AS cited_together
    FROM kept AS one
    INNER JOIN kept AS other
        ON one.citing_paper_id = other.citing_paper_id
        AND one.cited_paper_id < other.cited_paper_id
    GROUP BY one.cited_paper_id, other.cited_paper_id
    HAVING COUNT(*) >= {at_least}
)
SELECT
    one.source_id AS one,
    other.source_id AS other,
    pairs.cited_together
FROM pairs
INNER JOIN papers AS one ON pairs.one_id = one.paper_id
INNER JOIN papers AS other ON pairs.other_id = other.paper_id
ORDER BY pairs.cited_together DESC, one.source_id, other.source_id
LIMIT {limit}
