-- The index of citing papers has the cited work too: a mention is looked for at one place, and not among all of its paper.

-- name: postgresql
DROP INDEX IF EXISTS citations_citing_index

-- name: postgresql
CREATE INDEX citations_citing_index ON citations (citing_paper_id, reference_id)
