-- Papers of a corpus by who wrote them: clusters of signatures where there are any, else the source's authors.
-- Signatures that are for a test or for development are left aside.

-- name: make_persons
CREATE {scratch} TABLE drawing_persons AS
WITH signed AS (
    SELECT author_signatures.paper_id, author_signatures.split, author_signatures.dataset, author_signatures.cluster
    FROM author_signatures
    INNER JOIN distinct_papers AS papers ON author_signatures.paper_id = papers.paper_id
    WHERE papers.corpus_id = :corpus_id AND author_signatures.cluster IS NOT NULL
)
SELECT DISTINCT signed.paper_id, signed.dataset || ':' || signed.cluster AS person
FROM signed
WHERE COALESCE(signed.split, 'train') = 'train'
UNION ALL
SELECT DISTINCT authorships.paper_id, CAST(authorships.author_id AS TEXT) AS person
FROM authorships
INNER JOIN distinct_papers AS papers ON authorships.paper_id = papers.paper_id
WHERE papers.corpus_id = :corpus_id AND NOT EXISTS (SELECT 1 FROM signed)

-- name: make_blocks
-- Groups of like names.
CREATE {scratch} TABLE drawing_blocks AS
SELECT DISTINCT author_signatures.paper_id, author_signatures.dataset || ':' || author_signatures.block AS block
FROM author_signatures
INNER JOIN distinct_papers AS papers ON author_signatures.paper_id = papers.paper_id
WHERE papers.corpus_id = :corpus_id
    AND author_signatures.block IS NOT NULL
    AND author_signatures.cluster IS NOT NULL
    AND COALESCE(author_signatures.split, 'train') = 'train'
UNION
SELECT authorships.paper_id, authorships.block
FROM authorships
INNER JOIN distinct_papers AS papers ON authorships.paper_id = papers.paper_id
WHERE papers.corpus_id = :corpus_id
    AND authorships.block IS NOT NULL
    AND NOT EXISTS (
        SELECT 1
        FROM author_signatures
        INNER JOIN papers AS signed ON author_signatures.paper_id = signed.paper_id
        WHERE signed.corpus_id = :corpus_id AND author_signatures.cluster IS NOT NULL
    )

-- name: make_askers
-- Papers with an author of whom there is another.
CREATE {scratch} TABLE drawing_askers AS
SELECT DISTINCT drawing_persons.paper_id
FROM drawing_persons
INNER JOIN (
    SELECT drawing_persons.person
    FROM drawing_persons
    GROUP BY drawing_persons.person
    HAVING COUNT(*) > 1
) AS several ON drawing_persons.person = several.person

-- name: make_linked
CREATE {scratch} TABLE drawing_linked AS
SELECT DISTINCT drawing_queries.number, others.paper_id
FROM drawing_queries
INNER JOIN drawing_persons AS own ON drawing_queries.paper_id = own.paper_id
INNER JOIN drawing_persons AS others ON own.person = others.person
WHERE others.paper_id <> drawing_queries.paper_id

-- name: make_related
-- Who shares an author by the source's authors is no negative either.
CREATE {scratch} TABLE drawing_related AS
SELECT drawing_linked.number, drawing_linked.paper_id
FROM drawing_linked
UNION
SELECT drawing_queries.number, others.paper_id
FROM drawing_queries
INNER JOIN authorships AS own ON drawing_queries.paper_id = own.paper_id
INNER JOIN authorships AS others ON own.author_id = others.author_id

-- name: make_near
-- Papers by somebody of a like name.
CREATE {scratch} TABLE drawing_near AS
SELECT DISTINCT drawing_queries.number, others.paper_id
FROM drawing_queries
INNER JOIN drawing_blocks AS own ON drawing_queries.paper_id = own.paper_id
INNER JOIN drawing_blocks AS others ON own.block = others.block
