-- The papers that queries and candidates of a sampled benchmark are drawn from (Medić and Šnajder 2022, section
-- 3): with a year, a title, an abstract that is long enough, and citations enough, as `samplings` says. A paper that
-- cites itself neither makes nor receives a citation by that; of `either`, the greater number counts.
CREATE VIEW prefiltered_papers AS
WITH made AS (
    SELECT citation_links.citing_paper_id AS paper_id, COUNT(*) AS citations
    FROM citation_links
    WHERE citation_links.citing_paper_id <> citation_links.cited_paper_id
        AND EXISTS (SELECT 1 FROM samplings WHERE samplings.counted IN ('made', 'either'))
    GROUP BY citation_links.citing_paper_id
),
received AS (
    SELECT citation_links.cited_paper_id AS paper_id, COUNT(*) AS citations
    FROM citation_links
    WHERE citation_links.citing_paper_id <> citation_links.cited_paper_id
        AND EXISTS (SELECT 1 FROM samplings WHERE samplings.counted IN ('received', 'either'))
    GROUP BY citation_links.cited_paper_id
)
SELECT
    samplings.benchmark,
    papers.paper_id,
    papers.corpus_id,
    papers.source_id,
    papers.year,
    GREATEST(COALESCE(made.citations, 0), COALESCE(received.citations, 0)) AS citations
FROM samplings
INNER JOIN distinct_papers AS papers ON samplings.corpus_id = papers.corpus_id
LEFT JOIN made ON papers.paper_id = made.paper_id AND samplings.counted IN ('made', 'either')
LEFT JOIN received ON papers.paper_id = received.paper_id AND samplings.counted IN ('received', 'either')
WHERE papers.year IS NOT NULL
    AND TRIM(papers.title) <> ''
    AND LENGTH(COALESCE(papers.abstract, '')) >= samplings.min_abstract
    AND GREATEST(COALESCE(made.citations, 0), COALESCE(received.citations, 0)) >= samplings.min_citations
