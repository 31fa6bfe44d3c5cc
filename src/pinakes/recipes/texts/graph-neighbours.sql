-- Which graph neighbours does a construction start from?
--
-- The overlap of a query's citations with those to and from a paper that it cites: the cited paper with the greatest
-- overlap gives its neighbours first.
--
-- {benchmark}: benchmark (mdcr_constructed)
-- {limit}: number = 50
WITH neighbours AS (
    SELECT citing_paper_id AS paper_id, cited_paper_id AS neighbour_id FROM citation_links
    UNION
    SELECT cited_paper_id AS paper_id, citing_paper_id AS neighbour_id FROM citation_links
),
cited AS (
    SELECT sampled_queries.query_id, citation_links.cited_paper_id
    FROM sampled_queries
    INNER JOIN citation_links ON sampled_queries.paper_id = citation_links.citing_paper_id
    WHERE sampled_queries.benchmark = '{benchmark}'
),
counts AS (
    SELECT query_id, COUNT(*) AS cited FROM cited GROUP BY query_id
)
SELECT
    one.query_id,
    papers.source_id AS cited_paper,
    COUNT(*) AS shared,
    counts.cited,
    CAST(1.0 * COUNT(*) / counts.cited AS DECIMAL(6, 4)) AS overlap
FROM cited AS one
INNER JOIN neighbours ON one.cited_paper_id = neighbours.paper_id
INNER JOIN cited AS another
    ON one.query_id = another.query_id
    AND neighbours.neighbour_id = another.cited_paper_id
INNER JOIN counts ON one.query_id = counts.query_id
INNER JOIN papers ON one.cited_paper_id = papers.paper_id
GROUP BY one.query_id, papers.source_id, counts.cited
ORDER BY one.query_id, overlap DESC, papers.source_id
LIMIT {limit}
