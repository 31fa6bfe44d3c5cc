-- The papers that queries and candidates of a sampled benchmark are drawn from (Medić and Šnajder 2022, section
-- 3): with a year, a title, an abstract that is long enough, and citations enough, as `samplings` says.
CREATE VIEW prefiltered_papers AS
WITH counts AS (
    SELECT citation_links.citing_paper_id AS paper_id, 'made' AS counted, COUNT(*) AS citations
    FROM citation_links
    GROUP BY citation_links.citing_paper_id
    UNION ALL
    SELECT citation_links.cited_paper_id AS paper_id, 'received' AS counted, COUNT(*) AS citations
    FROM citation_links
    GROUP BY citation_links.cited_paper_id
)
SELECT
    samplings.benchmark,
    papers.paper_id,
    papers.corpus_id,
    papers.source_id,
    papers.year,
    COALESCE(counts.citations, 0) AS citations
FROM samplings
INNER JOIN distinct_papers AS papers ON samplings.corpus_id = papers.corpus_id
LEFT JOIN counts ON papers.paper_id = counts.paper_id AND samplings.counted = counts.counted
WHERE papers.year IS NOT NULL
    AND TRIM(papers.title) <> ''
    AND LENGTH(COALESCE(papers.abstract, '')) >= samplings.least_abstract
    AND COALESCE(counts.citations, 0) >= samplings.least_citations
