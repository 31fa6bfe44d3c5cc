-- A paper of a corpus, with 1 for what its text cites four times or more, and 0 for what else it cites (appendix A.2).

-- name: make_mentions
CREATE {scratch} TABLE drawing_mentions AS
SELECT
    mentioned.query_paper_id,
    mentioned.paper_id,
    CASE WHEN COUNT(*) >= 4 THEN 1 ELSE 0 END AS grade
FROM (
    SELECT
        COALESCE(citing.kept_paper_id, citations.citing_paper_id) AS query_paper_id,
        COALESCE(cited.kept_paper_id, cited_references.paper_id) AS paper_id
    FROM citations
    INNER JOIN cited_references ON citations.reference_id = cited_references.reference_id
    LEFT JOIN duplicate_papers AS citing ON citations.citing_paper_id = citing.paper_id
    LEFT JOIN duplicate_papers AS cited ON cited_references.paper_id = cited.paper_id
    WHERE cited_references.paper_id IS NOT NULL
) AS mentioned
INNER JOIN papers ON mentioned.query_paper_id = papers.paper_id
WHERE papers.corpus_id = :corpus_id
    AND mentioned.query_paper_id <> mentioned.paper_id
GROUP BY mentioned.query_paper_id, mentioned.paper_id

-- name: make_askers
CREATE {scratch} TABLE drawing_askers AS
SELECT DISTINCT drawing_mentions.query_paper_id AS paper_id
FROM drawing_mentions

-- name: make_graded
CREATE {scratch} TABLE drawing_graded AS
SELECT drawing_queries.number, drawing_mentions.paper_id, drawing_mentions.grade
FROM drawing_queries
INNER JOIN drawing_mentions ON drawing_queries.paper_id = drawing_mentions.query_paper_id
