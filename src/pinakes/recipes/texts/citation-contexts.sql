-- What do others say where they cite a paper?
--
-- The offsets of a mention turn its context into the words before it and the words behind it.
--
-- {paper}: text (syn-00000001)
SELECT
    citing.year,
    citing.source_id AS citing_paper,
    SUBSTR(citations.context, 1, citations.context_start) AS before_mention,
    SUBSTR(citations.context, citations.context_end + 1) AS after_mention
FROM citations
INNER JOIN cited_references ON citations.reference_id = cited_references.reference_id
INNER JOIN papers AS cited ON cited_references.paper_id = cited.paper_id
INNER JOIN papers AS citing ON citations.citing_paper_id = citing.paper_id
WHERE cited.source_id = '{paper}' AND citations.context IS NOT NULL
ORDER BY citing.year, citing.source_id, citations.citation_id
