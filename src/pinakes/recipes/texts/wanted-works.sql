-- Which cited works do we not hold?
--
-- Dangling citations, the most wanted first: what to load next.
--
-- {limit}: number = 50
SELECT
    corpora.name AS corpus,
    unresolved_citations.reference_key,
    unresolved_citations.title,
    COUNT(*) AS mentions,
    COUNT(DISTINCT unresolved_citations.citing_paper_id) AS citing_papers
FROM unresolved_citations
INNER JOIN corpora ON unresolved_citations.corpus_id = corpora.corpus_id
GROUP BY corpora.name, unresolved_citations.reference_key, unresolved_citations.title
ORDER BY citing_papers DESC, mentions DESC, corpora.name, unresolved_citations.reference_key
LIMIT {limit}
