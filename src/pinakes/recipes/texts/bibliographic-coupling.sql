-- Which papers cite the same works as a paper?
--
-- Bibliographic coupling: `shared` works stand in both reference lists, `jaccard` is their share of all works in either. One
-- shared work alone says little. Asks the tables below `citation_links`, which would first bring all citations together.
--
-- {corpus}: corpus (synthetic)
-- {paper}: text (syn-00000300)
-- {at_least}: number = 2
-- {limit}: number = 20
WITH asked AS (
    SELECT papers.paper_id
    FROM papers
    INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
    WHERE corpora.name = '{corpus}' AND papers.source_id = '{paper}'
),
asked_ids AS (
    SELECT paper_id FROM asked
    UNION
    SELECT duplicate_papers.paper_id
    FROM duplicate_papers
    INNER JOIN asked ON duplicate_papers.kept_paper_id = asked.paper_id
),
works AS (
    SELECT DISTINCT COALESCE(merged.kept_paper_id, cited_references.paper_id) AS paper_id
    FROM asked_ids
    INNER JOIN citations ON asked_ids.paper_id = citations.citing_paper_id
    INNER JOIN cited_references ON citations.reference_id = cited_references.reference_id
    LEFT JOIN duplicate_papers AS merged ON cited_references.paper_id = merged.paper_id
    WHERE cited_references.paper_id IS NOT NULL
),
work_ids AS (
    SELECT paper_id, paper_id AS work_id FROM works
    UNION
    SELECT duplicate_papers.paper_id, works.paper_id AS work_id
    FROM duplicate_papers
    INNER JOIN works ON duplicate_papers.kept_paper_id = works.paper_id
),
shared AS (
    SELECT
        COALESCE(merged.kept_paper_id, citations.citing_paper_id) AS paper_id,
        COUNT(DISTINCT work_ids.work_id) AS shared
    FROM work_ids
    INNER JOIN cited_references ON work_ids.paper_id = cited_references.paper_id
    INNER JOIN citations ON cited_references.reference_id = citations.reference_id
    LEFT JOIN duplicate_papers AS merged ON citations.citing_paper_id = merged.paper_id
    GROUP BY COALESCE(merged.kept_paper_id, citations.citing_paper_id)
    HAVING COUNT(DISTINCT work_ids.work_id) >= {at_least}
),
citing_ids AS (
    SELECT paper_id, paper_id AS citing_id FROM shared
    UNION
    SELECT duplicate_papers.paper_id, shared.paper_id AS citing_id
    FROM duplicate_papers
    INNER JOIN shared ON duplicate_papers.kept_paper_id = shared.paper_id
),
sizes AS (
    SELECT
        citing_ids.citing_id AS paper_id,
        COUNT(DISTINCT COALESCE(merged.kept_paper_id, cited_references.paper_id)) AS cited
    FROM citing_ids
    INNER JOIN citations ON citing_ids.paper_id = citations.citing_paper_id
    INNER JOIN cited_references ON citations.reference_id = cited_references.reference_id
    LEFT JOIN duplicate_papers AS merged ON cited_references.paper_id = merged.paper_id
    GROUP BY citing_ids.citing_id
)
SELECT
    papers.source_id,
    papers.year,
    shared.shared,
    CAST(1.0 * shared.shared / ((SELECT COUNT(*) FROM works) + sizes.cited - shared.shared) AS DECIMAL(6, 4)) AS jaccard,
    papers.title
FROM shared
INNER JOIN sizes ON shared.paper_id = sizes.paper_id
INNER JOIN papers ON shared.paper_id = papers.paper_id
WHERE shared.paper_id NOT IN (SELECT paper_id FROM asked)
ORDER BY jaccard DESC, shared.shared DESC, papers.source_id
LIMIT {limit}
