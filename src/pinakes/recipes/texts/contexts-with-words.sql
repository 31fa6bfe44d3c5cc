-- Which sentences that cite something have these words?
--
-- In this order and case. What is cited beside the words "we use" is what people build on.
--
-- {corpus}: corpus (synthetic)
-- {words}: text (we use)
-- {limit}: number = 20
SELECT
    citing.source_id AS citing_paper,
    citing.year,
    COALESCE(cited.source_id, cited_references.reference_key) AS cited_work,
    COALESCE(cited.title, cited_references.title) AS title,
    citations.context
FROM citations
INNER JOIN cited_references ON citations.reference_id = cited_references.reference_id
INNER JOIN papers AS citing ON citations.citing_paper_id = citing.paper_id
INNER JOIN corpora ON citing.corpus_id = corpora.corpus_id
LEFT JOIN papers AS cited ON cited_references.paper_id = cited.paper_id
WHERE corpora.name = '{corpus}' AND POSITION('{words}' IN citations.context) > 0
ORDER BY citing.source_id, citations.citation_id
LIMIT {limit}
