-- The hits of a run on Postgres, by no order. A driver makes a Python object of each value that Postgres sends, a
-- second for each 100,000 hits; so a query's hits come as one value, of 16 bytes each: paper_id and score,
-- big-endian.

-- name: postgresql
SELECT query_id, STRING_AGG(INT8SEND(paper_id) || FLOAT8SEND(score), CAST('' AS BYTEA)) AS packed
FROM hits
WHERE run_id = :run_id
GROUP BY query_id
