-- Does a system prefer papers that are new, or often cited?
--
-- The papers that it ranks first beside those that are relevant: a system whose papers are cited far more often than the
-- relevant ones follows fame. `citation_count` is as the source counts.
--
-- {benchmark}: benchmark (synthetic)
-- {depth}: number = 10
WITH newest AS (
    SELECT system, MAX(run_id) AS run_id
    FROM runs
    WHERE benchmark = '{benchmark}'
    GROUP BY system
),
chosen AS (
    SELECT CONCAT('ranked by ', newest.system) AS which, hits.paper_id
    FROM newest
    INNER JOIN hits ON newest.run_id = hits.run_id
    WHERE hits.rank <= {depth}
    UNION ALL
    SELECT 'relevant' AS which, paper_id
    FROM {benchmark}.judgments
    WHERE grade > 0
)
SELECT
    chosen.which,
    COUNT(*) AS papers,
    CAST(AVG(papers.year) AS DECIMAL(8, 2)) AS mean_year,
    CAST(AVG(papers.citation_count) AS DECIMAL(10, 2)) AS mean_citation_count,
    CAST(100.0 * (COUNT(*) - COUNT(papers.abstract)) / COUNT(*) AS DECIMAL(5, 2)) AS per_cent_without_abstract
FROM chosen
INNER JOIN papers ON chosen.paper_id = papers.paper_id
GROUP BY chosen.which
ORDER BY chosen.which
