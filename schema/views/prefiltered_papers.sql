-- The papers that queries and candidates of a sampled benchmark are drawn from (Medić and Šnajder 2022, section
-- 3): with a year, a title, an abstract that is long enough, and citations enough, as `samplings` says. A paper that
-- cites itself neither makes nor receives a citation by that; of `either`, the greater number counts.
CREATE VIEW prefiltered_papers AS
WITH made_or_received AS (
    SELECT samplings.benchmark, citation_links.citing_paper_id AS paper_id, COUNT(*) AS citations
    FROM samplings
    CROSS JOIN citation_links
    WHERE samplings.counted IN ('made', 'either')
        AND citation_links.citing_paper_id <> citation_links.cited_paper_id
    GROUP BY samplings.benchmark, citation_links.citing_paper_id
    UNION ALL
    SELECT samplings.benchmark, citation_links.cited_paper_id AS paper_id, COUNT(*) AS citations
    FROM samplings
    CROSS JOIN citation_links
    WHERE samplings.counted IN ('received', 'either')
        AND citation_links.citing_paper_id <> citation_links.cited_paper_id
    GROUP BY samplings.benchmark, citation_links.cited_paper_id
),
counts AS (
    SELECT made_or_received.benchmark, made_or_received.paper_id, MAX(made_or_received.citations) AS citations
    FROM made_or_received
    GROUP BY made_or_received.benchmark, made_or_received.paper_id
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
