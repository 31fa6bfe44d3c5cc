-- A query is a paper and some of its sentences; no facet is told. The selection `facet`, of the sentences that
-- carry the facet of CSFCube's query, is always there and keeps that query's id; a selection of a user's is
-- `<query_id>/<selection>`. `facet` is for reports, and null for a user's selection, which need not be of one.
WITH asked AS (
    SELECT
        benchmark_queries.corpus_id,
        benchmark_queries.query_id,
        benchmark_queries.paper_id,
        benchmark_queries.facet,
        benchmark_queries.fold
    FROM benchmark_queries
    INNER JOIN corpora ON benchmark_queries.corpus_id = corpora.corpus_id
    WHERE corpora.name = 'csfcube' AND benchmark_queries.paper_id IS NOT NULL
),

-- Outer joins: a query without a sentence is asked with an empty text, not left out.
chosen AS (
    SELECT asked.query_id, CAST('facet' AS TEXT) AS selection, sentences.position, sentences.text
    FROM asked
    LEFT JOIN distinct_sentences AS sentences
        ON asked.paper_id = sentences.paper_id
        AND sentences.section_number = 0
        AND asked.facet = sentences.facet
    UNION ALL
    SELECT asked.query_id, sentence_selections.selection, sentences.position, sentences.text
    FROM asked
    INNER JOIN sentence_selections
        ON asked.corpus_id = sentence_selections.corpus_id
        AND asked.query_id = sentence_selections.query_id
    LEFT JOIN distinct_sentences AS sentences
        ON asked.paper_id = sentences.paper_id
        AND sentences.section_number = 0
        AND sentence_selections.position = sentences.position
    WHERE sentence_selections.selection <> 'facet'
)

SELECT
    CASE
        WHEN chosen.selection = 'facet' THEN asked.query_id
        ELSE asked.query_id || '/' || chosen.selection
    END AS query_id,
    asked.paper_id,
    COALESCE(STRING_AGG(chosen.text, ' ' ORDER BY chosen.position), '') AS text,
    chosen.selection,
    CASE WHEN chosen.selection = 'facet' THEN asked.facet END AS facet,
    asked.fold,
    asked.query_id AS csfcube_query_id
FROM asked
INNER JOIN chosen ON asked.query_id = chosen.query_id
GROUP BY asked.query_id, asked.paper_id, asked.facet, asked.fold, chosen.selection
