-- How unequally are citations spread?
--
-- The share of all citations that the most cited 1, 5, 10, 20 and 50 per cent of the papers receive; `at_least` is how often
-- each of them is cited.
--
-- {corpus}: corpus (synthetic)
WITH received AS MATERIALIZED (
    SELECT cited_paper_id AS paper_id, COUNT(*) AS cited FROM citation_links GROUP BY cited_paper_id
),
in_degrees AS (
    SELECT papers.paper_id, COALESCE(received.cited, 0) AS cited
    FROM distinct_papers AS papers
    INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
    LEFT JOIN received ON papers.paper_id = received.paper_id
    WHERE corpora.name = '{corpus}'
),
ranked AS (
    SELECT
        cited,
        CEIL(100.0 * ROW_NUMBER() OVER (ORDER BY cited DESC, paper_id) / COUNT(*) OVER ()) AS hundredth
    FROM in_degrees
),
hundredths AS (
    SELECT hundredth, COUNT(*) AS papers, SUM(cited) AS citations, MIN(cited) AS at_least
    FROM ranked
    GROUP BY hundredth
),
shares (per_cent) AS (
    VALUES (1), (5), (10), (20), (50), (100)
)
SELECT
    shares.per_cent AS most_cited_per_cent,
    CAST(SUM(hundredths.papers) AS BIGINT) AS papers,
    MIN(hundredths.at_least) AS at_least,
    CAST(SUM(hundredths.citations) AS BIGINT) AS citations,
    CAST(100.0 * SUM(hundredths.citations) / (SELECT NULLIF(SUM(citations), 0) FROM hundredths) AS DECIMAL(5, 2))
        AS per_cent_of_citations
FROM shares
INNER JOIN hundredths ON shares.per_cent >= hundredths.hundredth
GROUP BY shares.per_cent
ORDER BY shares.per_cent
