-- How often are papers of each field cited, by year of publication?
--
-- Papers that nobody cites count as zero, which an inner join would drop.
WITH received AS MATERIALIZED (
    SELECT cited_paper_id AS paper_id, COUNT(*) AS cited FROM citation_links GROUP BY cited_paper_id
),
in_degrees AS (
    SELECT papers.paper_id, papers.year, COALESCE(received.cited, 0) AS in_degree
    FROM papers
    LEFT JOIN received ON papers.paper_id = received.paper_id
)
SELECT
    paper_fields.field,
    in_degrees.year,
    COUNT(*) AS papers,
    CAST(SUM(in_degrees.in_degree) AS BIGINT) AS times_cited,
    CAST(AVG(in_degrees.in_degree) AS DECIMAL(8, 2)) AS mean_in_degree,
    MAX(in_degrees.in_degree) AS greatest
FROM in_degrees
INNER JOIN paper_fields ON in_degrees.paper_id = paper_fields.paper_id
GROUP BY paper_fields.field, in_degrees.year
ORDER BY paper_fields.field, in_degrees.year
