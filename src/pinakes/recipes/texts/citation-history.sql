-- When was a paper cited?
--
-- The citing papers of each year, and all up to it. Asks the tables below `citation_links`, which would first bring all
-- citations together.
--
-- {corpus}: corpus (synthetic)
-- {paper}: text (syn-00000001)
WITH asked AS (
    SELECT papers.paper_id, papers.year
    FROM papers
    INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
    WHERE corpora.name = '{corpus}' AND papers.source_id = '{paper}'
),
held AS (
    SELECT paper_id FROM asked
    UNION
    SELECT duplicate_papers.paper_id
    FROM duplicate_papers
    INNER JOIN asked ON duplicate_papers.kept_paper_id = asked.paper_id
),
citing AS (
    SELECT DISTINCT COALESCE(merged.kept_paper_id, citations.citing_paper_id) AS paper_id
    FROM held
    INNER JOIN cited_references ON held.paper_id = cited_references.paper_id
    INNER JOIN citations ON cited_references.reference_id = citations.reference_id
    LEFT JOIN duplicate_papers AS merged ON citations.citing_paper_id = merged.paper_id
)
SELECT
    papers.year,
    papers.year - asked.year AS age,
    COUNT(*) AS citing_papers,
    CAST(SUM(COUNT(*)) OVER (ORDER BY papers.year) AS BIGINT) AS up_to
FROM citing
INNER JOIN papers ON citing.paper_id = papers.paper_id
CROSS JOIN asked
GROUP BY papers.year, asked.year
ORDER BY papers.year
