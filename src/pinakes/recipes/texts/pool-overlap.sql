-- Which queries share candidates?
--
-- Of a benchmark whose queries have pools of their own. Queries with nearly the same pool are nearly one question, and a mean
-- over both counts it twice.
--
-- {benchmark}: benchmark (csfcube)
-- {limit}: number = 20
WITH sizes AS (
    SELECT query_id, COUNT(*) AS candidates FROM {benchmark}.candidates GROUP BY query_id
),
shared AS (
    SELECT one.query_id, other.query_id AS other_query_id, COUNT(*) AS shared
    FROM {benchmark}.candidates AS one
    INNER JOIN {benchmark}.candidates AS other ON one.paper_id = other.paper_id AND one.query_id < other.query_id
    GROUP BY one.query_id, other.query_id
)
SELECT
    shared.query_id,
    shared.other_query_id,
    shared.shared,
    CAST(1.0 * shared.shared / (sizes.candidates + others.candidates - shared.shared) AS DECIMAL(6, 4)) AS jaccard
FROM shared
INNER JOIN sizes ON shared.query_id = sizes.query_id
INNER JOIN sizes AS others ON shared.other_query_id = others.query_id
ORDER BY jaccard DESC, shared.shared DESC, shared.query_id, shared.other_query_id
LIMIT {limit}
