-- Which cited works do we not hold?
--
-- Dangling citations, the most wanted first: what to load next.
--
-- {limit}: number = 50
WITH counted AS MATERIALIZED (
    SELECT reference_id, COUNT(*) AS mentions, COUNT(DISTINCT citing_paper_id) AS citing_papers
    FROM unresolved_citations
    GROUP BY reference_id
)
SELECT
    corpora.name AS corpus,
    cited_references.reference_key,
    cited_references.title,
    counted.mentions,
    counted.citing_papers
FROM counted
INNER JOIN cited_references ON counted.reference_id = cited_references.reference_id
INNER JOIN corpora ON cited_references.corpus_id = corpora.corpus_id
ORDER BY counted.citing_papers DESC, counted.mentions DESC, corpora.name, cited_references.reference_key
LIMIT {limit}
