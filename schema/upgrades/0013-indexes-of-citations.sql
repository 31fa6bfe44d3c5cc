-- On Postgres the mentions of a paper and of a work are found by indexes.

-- name: postgresql
CREATE INDEX cited_references_paper_index ON cited_references (paper_id)

-- name: postgresql
CREATE INDEX citations_citing_index ON citations (citing_paper_id)

-- name: postgresql
CREATE INDEX citations_reference_index ON citations (reference_id)
