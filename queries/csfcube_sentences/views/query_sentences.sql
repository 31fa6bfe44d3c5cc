-- The sentences that a query asks with: those of its facet, or those that the user chose.
SELECT
    queries.query_id,
    queries.paper_id,
    sentences.position
FROM csfcube_sentences.queries AS queries
INNER JOIN distinct_sentences AS sentences
    ON queries.paper_id = sentences.paper_id AND queries.facet = sentences.facet
WHERE queries.selection = 'facet' AND sentences.section_number = 0
UNION ALL
SELECT
    queries.query_id,
    queries.paper_id,
    sentence_selections.position
FROM csfcube_sentences.queries AS queries
INNER JOIN sentence_selections
    ON queries.csfcube_query_id = sentence_selections.query_id
    AND queries.selection = sentence_selections.selection
INNER JOIN corpora ON sentence_selections.corpus_id = corpora.corpus_id
WHERE corpora.name = 'csfcube' AND queries.selection <> 'facet'
