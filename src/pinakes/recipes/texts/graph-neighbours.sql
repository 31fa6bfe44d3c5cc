-- Which graph neighbours does a construction start from?
--
-- The overlap of a query's citations with those to and from a paper that it cites: the cited paper with the greatest
-- overlap gives its neighbours first. Asks the tables below `citation_links`, which would first bring all citations together.
--
-- {benchmark}: benchmark (mdcr_constructed)
-- {limit}: number = 50
WITH asked AS (
    SELECT query_id, paper_id
    FROM sampled_queries
    WHERE benchmark = '{benchmark}'
),
asked_ids AS (
    SELECT query_id, paper_id FROM asked
    UNION
    SELECT asked.query_id, duplicate_papers.paper_id
    FROM duplicate_papers
    INNER JOIN asked ON duplicate_papers.kept_paper_id = asked.paper_id
),
cited AS (
    SELECT DISTINCT
        asked_ids.query_id,
        COALESCE(merged.kept_paper_id, cited_references.paper_id) AS paper_id
    FROM asked_ids
    INNER JOIN citations ON asked_ids.paper_id = citations.citing_paper_id
    INNER JOIN cited_references ON citations.reference_id = cited_references.reference_id
    LEFT JOIN duplicate_papers AS merged ON cited_references.paper_id = merged.paper_id
    WHERE cited_references.paper_id IS NOT NULL
),
counts AS (
    SELECT query_id, COUNT(*) AS cited FROM cited GROUP BY query_id
),
cited_ids AS (
    SELECT paper_id, paper_id AS kept_id FROM cited
    UNION
    SELECT duplicate_papers.paper_id, cited.paper_id AS kept_id
    FROM duplicate_papers
    INNER JOIN cited ON duplicate_papers.kept_paper_id = cited.paper_id
),
links AS (
    SELECT DISTINCT
        cited_ids.kept_id AS citing_paper_id,
        COALESCE(merged.kept_paper_id, cited_references.paper_id) AS cited_paper_id
    FROM cited_ids
    INNER JOIN citations ON cited_ids.paper_id = citations.citing_paper_id
    INNER JOIN cited_references ON citations.reference_id = cited_references.reference_id
    LEFT JOIN duplicate_papers AS merged ON cited_references.paper_id = merged.paper_id
    WHERE cited_references.paper_id IS NOT NULL
),
within AS (
    SELECT citing.query_id, links.citing_paper_id, links.cited_paper_id
    FROM links
    INNER JOIN cited AS citing ON links.citing_paper_id = citing.paper_id
    INNER JOIN cited ON links.cited_paper_id = cited.paper_id AND citing.query_id = cited.query_id
),
neighbours AS (
    SELECT query_id, citing_paper_id AS paper_id, cited_paper_id AS neighbour_id FROM within
    UNION
    SELECT query_id, cited_paper_id AS paper_id, citing_paper_id AS neighbour_id FROM within
)
SELECT
    neighbours.query_id,
    papers.source_id AS cited_paper,
    COUNT(*) AS shared,
    counts.cited,
    CAST(1.0 * COUNT(*) / counts.cited AS DECIMAL(6, 4)) AS overlap
FROM neighbours
INNER JOIN counts ON neighbours.query_id = counts.query_id
INNER JOIN papers ON neighbours.paper_id = papers.paper_id
GROUP BY neighbours.query_id, papers.source_id, counts.cited
ORDER BY neighbours.query_id, overlap DESC, papers.source_id
LIMIT {limit}
