-- How many papers does each condition of the pre-filter take away?
--
-- Each column counts the papers that meet its condition and all before it; the last one is what queries and pools are
-- drawn from. Citations here are those that a paper makes, as `samplings.counted` says, but for one of itself.
WITH made AS MATERIALIZED (
    SELECT citing_paper_id AS paper_id, COUNT(*) AS citations
    FROM citation_links
    WHERE citing_paper_id <> cited_paper_id
    GROUP BY citing_paper_id
),
checked AS (
    SELECT
        samplings.benchmark,
        CASE WHEN papers.year IS NULL THEN 0 ELSE 1 END AS has_year,
        CASE WHEN TRIM(COALESCE(papers.title, '')) = '' THEN 0 ELSE 1 END AS has_title,
        CASE WHEN LENGTH(COALESCE(papers.abstract, '')) >= samplings.min_abstract THEN 1 ELSE 0 END AS has_abstract,
        CASE WHEN COALESCE(made.citations, 0) >= samplings.min_citations THEN 1 ELSE 0 END AS has_citations,
        CASE WHEN papers.year <= samplings.year THEN 1 ELSE 0 END AS is_early_enough
    FROM samplings
    INNER JOIN distinct_papers AS papers ON samplings.corpus_id = papers.corpus_id
    LEFT JOIN made ON papers.paper_id = made.paper_id
    WHERE samplings.counted = 'made'
)
SELECT
    benchmark,
    COUNT(*) AS papers,
    CAST(SUM(has_year) AS BIGINT) AS with_year,
    CAST(SUM(has_year * has_title) AS BIGINT) AS with_title,
    CAST(SUM(has_year * has_title * has_abstract) AS BIGINT) AS with_abstract,
    CAST(SUM(has_year * has_title * has_abstract * has_citations) AS BIGINT) AS with_citations,
    CAST(SUM(has_year * has_title * has_abstract * has_citations * is_early_enough) AS BIGINT) AS early_enough
FROM checked
GROUP BY benchmark
ORDER BY benchmark
