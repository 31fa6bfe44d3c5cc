-- A paper of a corpus, what it cites, and what is cited there (appendix A.2).

-- name: make_links
-- A paper that cites itself cites nothing by that.
CREATE {scratch} TABLE drawing_links AS
SELECT citation_links.citing_paper_id AS query_paper_id, citation_links.cited_paper_id AS paper_id
FROM citation_links
INNER JOIN papers ON citation_links.citing_paper_id = papers.paper_id
WHERE papers.corpus_id = :corpus_id
    AND citation_links.citing_paper_id <> citation_links.cited_paper_id

-- name: make_askers
CREATE {scratch} TABLE drawing_askers AS
SELECT DISTINCT drawing_links.query_paper_id AS paper_id
FROM drawing_links

-- name: make_linked
CREATE {scratch} TABLE drawing_linked AS
SELECT drawing_queries.number, drawing_links.paper_id
FROM drawing_queries
INNER JOIN drawing_links ON drawing_queries.paper_id = drawing_links.query_paper_id

-- name: make_related
-- What none of the easy negatives is.
CREATE {scratch} TABLE drawing_related AS
SELECT drawing_linked.number, drawing_linked.paper_id
FROM drawing_linked

-- name: make_near
-- What is cited by a paper that the query cites: of these, the first of the order in which they are drawn.
CREATE {scratch} TABLE drawing_near AS
SELECT DISTINCT drawing_positives.number, drawing_links.paper_id
FROM drawing_positives
INNER JOIN drawing_links ON drawing_positives.paper_id = drawing_links.query_paper_id
