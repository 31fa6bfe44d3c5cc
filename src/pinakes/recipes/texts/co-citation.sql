-- Which papers are cited together most often?
--
-- Co-citation: two papers that many others cite side by side are about the same thing, whatever their words. Asked of papers with
-- `mentioned` mentions or more, so that no pair is missing that so many papers cite together. Of a corpus of millions begin with
-- some hundreds: a paper that cites n of these gives n² / 2 pairs.
--
-- {mentioned}: number = 2
-- {at_least}: number = 2
-- {limit}: number = 20
WITH works AS (
    SELECT cited_references.reference_id, COALESCE(merged.kept_paper_id, cited_references.paper_id) AS paper_id
    FROM cited_references
    LEFT JOIN duplicate_papers AS merged ON cited_references.paper_id = merged.paper_id
    WHERE cited_references.paper_id IS NOT NULL
),
mentions AS (
    SELECT reference_id, COUNT(*) AS mentions FROM citations GROUP BY reference_id
),
often AS (
    SELECT works.paper_id
    FROM works
    INNER JOIN mentions ON works.reference_id = mentions.reference_id
    GROUP BY works.paper_id
    HAVING SUM(mentions.mentions) >= {mentioned}
),
links AS (
    SELECT DISTINCT
        COALESCE(merged.kept_paper_id, citations.citing_paper_id) AS citing_paper_id,
        works.paper_id AS cited_paper_id
    FROM often
    INNER JOIN works ON often.paper_id = works.paper_id
    INNER JOIN citations ON works.reference_id = citations.reference_id
    LEFT JOIN duplicate_papers AS merged ON citations.citing_paper_id = merged.paper_id
),
pairs AS (
    SELECT one.cited_paper_id AS one_id, other.cited_paper_id AS other_id, COUNT(*) AS cited_together
    FROM links AS one
    INNER JOIN links AS other
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
