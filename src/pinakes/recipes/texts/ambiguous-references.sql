-- Which cited works could be one of several papers?
--
-- They are recorded, and none is taken.
SELECT
    corpora.name AS corpus,
    cited_references.reference_key,
    ambiguous_references.matched_by,
    papers.source_id,
    papers.title
FROM ambiguous_references
INNER JOIN cited_references ON ambiguous_references.reference_id = cited_references.reference_id
INNER JOIN papers ON ambiguous_references.paper_id = papers.paper_id
INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id
ORDER BY corpora.name, cited_references.reference_key, papers.source_id
