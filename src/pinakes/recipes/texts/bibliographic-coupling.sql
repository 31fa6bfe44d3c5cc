-- Which papers cite the same works as a paper?
--
-- Bibliographic coupling: `shared` works stand in both reference lists, `jaccard` is their share of all works in either.
--
-- {corpus}: corpus (synthetic)
-- {paper}: text (syn-00000300)
-- {limit}: number = 20
WITH asked AS (
    SELECT papers.paper_id
    FROM papers
    INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
    WHERE corpora.name = '{corpus}' AND papers.source_id = '{paper}'
),
shared AS (
    SELECT theirs.citing_paper_id AS paper_id, COUNT(*) AS shared
    FROM citation_links AS own
    INNER JOIN asked ON own.citing_paper_id = asked.paper_id
    INNER JOIN citation_links AS theirs
        ON own.cited_paper_id = theirs.cited_paper_id
        AND own.citing_paper_id <> theirs.citing_paper_id
    GROUP BY theirs.citing_paper_id
),
sizes AS (
    SELECT citing_paper_id AS paper_id, COUNT(*) AS cited
    FROM citation_links
    WHERE citing_paper_id IN (SELECT paper_id FROM shared) OR citing_paper_id IN (SELECT paper_id FROM asked)
    GROUP BY citing_paper_id
)
SELECT
    papers.source_id,
    papers.year,
    shared.shared,
    CAST(1.0 * shared.shared / (own.cited + sizes.cited - shared.shared) AS DECIMAL(6, 4)) AS jaccard,
    papers.title
FROM shared
INNER JOIN sizes ON shared.paper_id = sizes.paper_id
INNER JOIN papers ON shared.paper_id = papers.paper_id
CROSS JOIN asked
INNER JOIN sizes AS own ON asked.paper_id = own.paper_id
ORDER BY jaccard DESC, shared.shared DESC, papers.source_id
LIMIT {limit}
