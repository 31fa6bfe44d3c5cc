-- The papers that queries and candidates of a sampled benchmark are drawn from (Medić and Šnajder 2022, section
-- 3): with a year, a title, an abstract that is long enough, and citations enough, as `samplings` says.
CREATE VIEW prefiltered_papers AS
WITH counts AS (
    SELECT
        samplings.benchmark,
        CASE
            WHEN samplings.counted = 'made' THEN citation_links.citing_paper_id
            ELSE citation_links.cited_paper_id
        END AS paper_id,
        COUNT(*) AS citations
    FROM samplings
    CROSS JOIN citation_links
    GROUP BY
        samplings.benchmark,
        CASE
            WHEN samplings.counted = 'made' THEN citation_links.citing_paper_id
            ELSE citation_links.cited_paper_id
        END
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
LEFT JOIN counts ON samplings.benchmark = counts.benchmark AND papers.paper_id = counts.paper_id
WHERE papers.year IS NOT NULL
    AND TRIM(papers.title) <> ''
    AND LENGTH(COALESCE(papers.abstract, '')) >= samplings.min_abstract
    AND COALESCE(counts.citations, 0) >= samplings.min_citations
