-- What do others say where they cite a paper?
--
-- The offsets of a mention turn its context into the words before it and the words behind it.
--
-- {corpus}: corpus (synthetic)
-- {paper}: text (syn-00000001)
WITH mentions AS (
    SELECT citations.citation_id, citations.citing_paper_id
    FROM papers
    INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
    INNER JOIN cited_references ON papers.paper_id = cited_references.paper_id
    INNER JOIN citations ON cited_references.reference_id = citations.reference_id
    WHERE corpora.name = '{corpus}' AND papers.source_id = '{paper}'
)
SELECT
    citing.year,
    citing.source_id AS citing_paper,
    SUBSTR(citations.context, 1, citations.context_start) AS before_mention,
    SUBSTR(citations.context, citations.context_end + 1) AS after_mention
FROM mentions
INNER JOIN citations ON mentions.citation_id = citations.citation_id
INNER JOIN papers AS citing ON mentions.citing_paper_id = citing.paper_id
WHERE citations.context IS NOT NULL
ORDER BY citing.year, citing.source_id, citations.citation_id
