-- A newer version of a file that says mentions unchanged is a row for each paper that cites, not a change of every mention.

-- name: duckdb
CREATE TABLE restated_citations (
    citing_paper_id BIGINT NOT NULL,
    batch_id BIGINT NOT NULL,
    newer_batch_id BIGINT NOT NULL
)

-- name: postgresql
CREATE TABLE restated_citations (
    citing_paper_id BIGINT NOT NULL,
    batch_id BIGINT NOT NULL,
    newer_batch_id BIGINT NOT NULL,
    PRIMARY KEY (citing_paper_id, batch_id)
)
