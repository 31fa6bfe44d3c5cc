-- What does each system find that no other finds?
--
-- Relevant papers among the first `depth` of each system's newest run. What is found alone is what a fusion would gain, and
-- what a pool without the system would have left unjudged.
--
-- {benchmark}: benchmark (synthetic)
-- {depth}: number = 10
WITH newest AS (
    SELECT system, MAX(run_id) AS run_id
    FROM runs
    WHERE benchmark = '{benchmark}'
    GROUP BY system
),
found AS (
    SELECT newest.system, hits.query_id, hits.paper_id
    FROM newest
    INNER JOIN hits ON newest.run_id = hits.run_id
    INNER JOIN {benchmark}.judgments AS judgments
        ON hits.query_id = judgments.query_id
        AND hits.paper_id = judgments.paper_id
    WHERE hits.rank <= {depth} AND judgments.grade > 0
),
finders AS (
    SELECT query_id, paper_id, COUNT(*) AS systems FROM found GROUP BY query_id, paper_id
)
SELECT
    found.system,
    COUNT(*) AS relevant,
    COUNT(CASE WHEN finders.systems = 1 THEN 1 END) AS alone,
    CAST(100.0 * COUNT(*) / (SELECT COUNT(*) FROM finders) AS DECIMAL(5, 2)) AS per_cent_of_all_found
FROM found
INNER JOIN finders ON found.query_id = finders.query_id AND found.paper_id = finders.paper_id
GROUP BY found.system
ORDER BY alone DESC, found.system
