-- Which graph neighbours does a construction start from?
--
-- The overlap of a query's citations with those to and from a paper that it cites: the cited paper with the greatest
-- overlap gives its neighbours first.
--
-- {benchmark}: benchmark (mdcr_constructed)
-- {limit}: number = 50
WITH links AS (
    SELECT citing_paper_id, cited_paper_id FROM citation_links
),
cited AS (
    SELECT sampled_queries.query_id, links.cited_paper_id AS paper_id
    FROM sampled_queries
    INNER JOIN links ON sampled_queries.paper_id = links.citing_paper_id
    WHERE sampled_queries.benchmark = '{benchmark}'
),
counts AS (
    SELECT query_id, COUNT(*) AS cited FROM cited GROUP BY query_id
),
pairs AS (
    SELECT one.query_id, one.paper_id, another.paper_id AS neighbour_id
    FROM cited AS one
    INNER JOIN cited AS another ON one.query_id = another.query_id
),
neighbours AS (
    SELECT pairs.query_id, pairs.paper_id, pairs.neighbour_id
    FROM pairs
    INNER JOIN links ON pairs.paper_id = links.citing_paper_id AND pairs.neighbour_id = links.cited_paper_id
    UNION
    SELECT pairs.query_id, pairs.paper_id, pairs.neighbour_id
    FROM pairs
    INNER JOIN links ON pairs.neighbour_id = links.citing_paper_id AND pairs.paper_id = links.cited_paper_id
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
